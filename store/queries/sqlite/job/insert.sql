-- Makes jobs.
INSERT INTO job (
  job_id, path, revision, seq, open, parked, created_at, deleted_at
)
SELECT
  value->>0, value->>1, value->>2, value->>3, value->>4, value->>5, value->>6, value->>7
FROM json_each($1)
