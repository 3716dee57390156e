-- Keeps edits of jobs.
INSERT INTO job_revision (
  job_id, revision, since, spec, actor, why, created_at
)
SELECT
  value->>0, value->>1, value->>2, value->>3, value->>4, value->>5, value->>6
FROM json_each($1)
