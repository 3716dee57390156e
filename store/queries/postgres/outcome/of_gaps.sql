-- Which of these versions have no row and lie in a gap.
SELECT DISTINCT x.job_id, x.version
FROM unnest($1::bigint[], $2::bigint[]) AS x (job_id, version)
JOIN slot_gap g ON g.job_id = x.job_id AND x.version BETWEEN g.from_version AND g.to_version
WHERE NOT EXISTS (
  SELECT 1 FROM action u WHERE u.job_id = x.job_id AND u.version = x.version
)
