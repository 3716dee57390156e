-- How these versions ended, where an end counts.
SELECT u.job_id, u.version, u.outcome, u.outcome_reason
FROM unnest($1::bigint[], $2::bigint[]) AS x (job_id, version)
JOIN action u ON u.job_id = x.job_id AND u.version = x.version
WHERE u.outcome IS NOT NULL
