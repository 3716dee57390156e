-- Binds actions to upstream versions.
WITH input AS MATERIALIZED (SELECT value AS v FROM json_each($1))
INSERT INTO binding (
  action_id, upstream_job, upstream_version, on_end
)
SELECT
  v->>0, v->>1, v->>2, v->>3
FROM input
