-- What the actions of action/load.sql wait for; the scope follows.
SELECT b.action_id, b.upstream_job, b.upstream_version, b.on_end, a.job_id
FROM action a
JOIN binding b ON b.action_id = a.action_id
WHERE a.pending
