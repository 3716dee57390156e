-- Changes jobs that are still as believed.
WITH x AS (
  SELECT
    value->>0 AS job_id, value->>1 AS believed, value->>2 AS path, value->>3 AS revision,
    value->>4 AS seq, value->>5 AS open, value->>6 AS parked, value->>7 AS deleted_at
  FROM json_each($1)
)
UPDATE job
SET
  path = x.path, revision = x.revision, seq = x.seq, open = x.open, parked = x.parked,
  deleted_at = x.deleted_at
FROM x
WHERE job.job_id = x.job_id
  AND job.seq = x.believed
