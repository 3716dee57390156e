-- The actions that wait for one upstream version.
SELECT
  a.action_id, a.job_id, a.version, a.zone, a.data_from, a.data_to, a.data_date, a.state,
  a.reason, a.outcome, a.outcome_reason, a.counted_run, a.live_run, a.runs, a.revision, a.seq,
  a.actor, a.created_at, a.decided_at, a.ended_at
FROM binding b
JOIN action a ON a.action_id = b.action_id
WHERE b.upstream_job = $1 AND b.upstream_version = $2
ORDER BY a.action_id
