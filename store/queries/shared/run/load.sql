-- Runs that have not ended; the scope follows.
SELECT
  r.run_id, r.action_id, r.job_id, r.version, r.number, r.trigger_kind, r.actor, r.why,
  r.revision, CAST(r.set_config AS text), CAST(r.urgency AS bigint), r.exclusive, r.lease_ms,
  r.retries, r.restarts, r.at_most_once, r.start_by, r.state, r.reason, r.not_before, r.hb_seq,
  r.attempts, r.starts, r.failures, r.losses, r.token, r.fence, r.worker_id, r.incarnation,
  r.cancel, r.final_token, r.queued_at, r.started_at, r.ended_at
FROM run r
WHERE r.live
