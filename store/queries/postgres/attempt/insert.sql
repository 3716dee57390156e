-- Makes attempts.
INSERT INTO attempt (
  fence, run_id, number, token, worker_id, incarnation, epoch, state, outcome, outcome_reason,
  exit_code, signal, detail, leased_at, started_at, ended_at, late_report
)
SELECT
  x.fence, x.run_id, x.number, x.token, x.worker_id, x.incarnation, x.epoch, x.state,
  x.outcome, x.outcome_reason, x.exit_code, x.signal, x.detail, x.leased_at, x.started_at,
  x.ended_at, x.late_report
FROM unnest(
    $1::bigint[], $2::bigint[], $3::bigint[], $4::text[], $5::bigint[], $6::bigint[],
    $7::bigint[], $8::text[], $9::text[], $10::text[], $11::bigint[], $12::bigint[],
    $13::text[], $14::bigint[], $15::bigint[], $16::bigint[], $17::text[]
  ) AS x (
    fence, run_id, number, token, worker_id, incarnation, epoch, state, outcome,
    outcome_reason, exit_code, signal, detail, leased_at, started_at, ended_at, late_report
  )
