SELECT
  t.fence, t.run_id, t.number, t.token, t.worker_id, t.incarnation, t.epoch, t.state,
  t.outcome, t.outcome_reason, t.exit_code, t.signal, t.detail, t.leased_at, t.started_at,
  t.ended_at, t.late_report,
  w.name
FROM attempt t
LEFT JOIN worker w ON w.worker_id = t.worker_id
WHERE t.token = $1
