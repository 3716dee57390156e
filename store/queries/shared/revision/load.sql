-- All edits; of which jobs follows.
SELECT
  v.job_id, v.revision, v.since, CAST(v.spec AS text), v.actor, v.why, v.source, v.created_at
FROM job_revision v
JOIN job j ON j.job_id = v.job_id
WHERE TRUE
