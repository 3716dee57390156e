-- The actions of exactly these versions, each with its live run.
SELECT
  a.action_id, a.job_id, a.version, a.zone, a.data_from, a.data_to, a.data_date, a.state,
  a.reason, a.outcome, a.outcome_reason, a.counted_run, a.live_run, a.runs, a.revision, a.seq,
  a.actor, a.created_at, a.decided_at, a.ended_at,
  r.run_id IS NOT NULL,
  r.run_id, r.action_id, r.job_id, r.version, r.number, r.trigger_kind, r.actor, r.why,
  r.revision, CAST(r.set_config AS text), CAST(r.urgency AS bigint), r.exclusive, r.lease_ms,
  r.retries, r.restarts, r.at_most_once, r.start_by, r.state, r.reason, r.not_before, r.hb_seq,
  r.attempts, r.starts, r.failures, r.losses, r.token, r.fence, r.worker_id, r.incarnation,
  r.cancel, r.final_token, r.queued_at, r.started_at, r.ended_at
FROM unnest($1::bigint[], $2::bigint[]) AS x (job_id, version)
JOIN action a ON a.job_id = x.job_id AND a.version = x.version
LEFT JOIN run r ON r.run_id = a.live_run
ORDER BY a.action_id
