-- Which upstream versions of action/load.sql have no row and lie in a gap; the scope follows.
SELECT DISTINCT b.upstream_job, b.upstream_version
FROM action a
JOIN binding b ON b.action_id = a.action_id
JOIN slot_gap g ON g.job_id = b.upstream_job
  AND b.upstream_version BETWEEN g.from_version AND g.to_version
WHERE NOT EXISTS (
  SELECT 1 FROM action u WHERE u.job_id = b.upstream_job AND u.version = b.upstream_version
) AND a.pending
