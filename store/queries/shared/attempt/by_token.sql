-- Attempts; under which tokens they were granted follows.
SELECT
  t.fence, t.run_id, t.number, t.token, t.worker_id, t.incarnation, t.epoch, t.state,
  t.outcome, t.outcome_reason, t.exit_code, t.signal, t.detail, t.leased_at, t.started_at,
  t.ended_at, t.late_report
FROM attempt t
WHERE TRUE
