-- Makes groups.
WITH input AS MATERIALIZED (SELECT value AS v FROM json_each($1))
INSERT INTO job_group (
  group_id, path, spec, seq, hands, created_at
)
SELECT
  v->>0, v->>1, v->>2, v->>3, v->>4, v->>5
FROM input
