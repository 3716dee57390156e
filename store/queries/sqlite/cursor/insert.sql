-- Makes cursors.
WITH input AS MATERIALIZED (SELECT value AS v FROM json_each($1))
INSERT INTO job_cursor (
  job_id, decided_to, planned_to, seq
)
SELECT
  v->>0, v->>1, v->>2, v->>3
FROM input
