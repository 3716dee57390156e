SELECT
  v.job_id, v.revision, v.since, CAST(v.spec AS text), v.actor, v.why, v.source, v.created_at
FROM job_revision v
WHERE v.job_id = $1
ORDER BY v.revision DESC
