-- Changes jobs that are still as believed.
WITH input AS MATERIALIZED (SELECT value AS v FROM json_each($1)),
x AS (
  SELECT
    v->>0 AS job_id, v->>1 AS believed, v->>2 AS path, v->>3 AS revision, v->>4 AS seq,
    v->>5 AS open, v->>6 AS parked, v->>7 AS hands, v->>8 AS deleted_at
  FROM input
)
UPDATE job
SET
  path = x.path, revision = x.revision, seq = x.seq, open = x.open, parked = x.parked,
  hands = x.hands, deleted_at = x.deleted_at
FROM x
WHERE job.job_id = x.job_id
  AND job.seq = x.believed
