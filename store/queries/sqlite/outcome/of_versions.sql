-- How these versions ended, where an end counts.
SELECT u.job_id, u.version, u.outcome, u.outcome_reason
FROM (SELECT value->>0 AS job_id, value->>1 AS version FROM json_each($1)) AS x
JOIN action u ON u.job_id = x.job_id AND u.version = x.version
WHERE u.outcome IS NOT NULL
