-- Runs, each with the name of the worker that holds it, and what its action says of it; filters, order and limit follow.
SELECT
  r.run_id, r.action_id, r.job_id, r.version, r.number, r.trigger_kind, r.actor, r.why,
  r.revision, CAST(r.set_config AS text), CAST(r.urgency AS bigint), r.exclusive, r.lease_ms,
  r.retries, r.restarts, r.at_most_once, r.start_by, r.state, r.reason, r.not_before, r.hb_seq,
  r.attempts, r.starts, r.failures, r.losses, r.token, r.fence, r.worker_id, r.incarnation,
  r.cancel, r.final_token, r.queued_at, r.started_at, r.ended_at,
  w.name, COALESCE(a.zone, 'UTC'), a.counted_run
FROM run r
LEFT JOIN action a ON a.action_id = r.action_id
LEFT JOIN worker w ON w.worker_id = r.worker_id
WHERE TRUE
