-- How the upstream versions ended that the actions of action/load.sql wait for; the scope follows.
SELECT DISTINCT u.job_id, u.version, u.outcome, u.outcome_reason
FROM action a
JOIN binding b ON b.action_id = a.action_id
JOIN action u ON u.job_id = b.upstream_job AND u.version = b.upstream_version
WHERE u.outcome IS NOT NULL AND a.pending
