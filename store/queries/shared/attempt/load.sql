-- The present attempts of the runs that are held; the scope follows.
SELECT
  t.fence, t.run_id, t.number, t.token, t.worker_id, t.incarnation, t.epoch, t.state,
  t.outcome, t.outcome_reason, t.exit_code, t.signal, t.detail, t.leased_at, t.started_at,
  t.ended_at, t.late_report,
  r.job_id
FROM run r
JOIN attempt t ON t.fence = r.fence
WHERE r.held
