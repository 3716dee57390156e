-- Keeps gaps; one that grows takes the place of what it was.
WITH input AS MATERIALIZED (SELECT value AS v FROM json_each($1))
INSERT INTO slot_gap (
  job_id, from_version, to_version, count, reason, created_at
)
SELECT
  v->>0, v->>1, v->>2, v->>3, v->>4, v->>5
FROM input
WHERE TRUE -- or the parser takes ON for the beginning of a join
ON CONFLICT (job_id, from_version) DO UPDATE
SET to_version = excluded.to_version, count = excluded.count, reason = excluded.reason
