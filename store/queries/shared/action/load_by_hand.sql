-- The newest versions of jobs without schedule and edges, at most $1 of each; the scope follows. What a definition says
-- is told by its keys alone, so that a document that is none is nobody's trouble.
SELECT x.job_id, x.version
FROM (
  SELECT
    a.job_id, a.version,
    ROW_NUMBER() OVER (PARTITION BY a.job_id ORDER BY a.version DESC) AS place
  FROM job j
  JOIN job_revision v ON v.job_id = j.job_id AND v.revision = j.revision
  JOIN action a ON a.job_id = j.job_id
  WHERE j.deleted_at IS NULL
    AND v.spec ->> 'schedule' IS NULL
    AND v.spec -> 'depends_on' -> 0 IS NULL
    AND a.state <> 'planned'
) x
WHERE x.place <= $1
