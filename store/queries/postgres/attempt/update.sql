-- Changes attempts, each under its token; one that has ended is protected by its trigger.
UPDATE attempt
SET
  state = x.state, outcome = x.outcome, outcome_reason = x.outcome_reason,
  exit_code = x.exit_code, signal = x.signal, detail = x.detail, started_at = x.started_at,
  ended_at = x.ended_at, late_report = x.late_report
FROM unnest(
    $1::bigint[], $2::text[], $3::text[], $4::text[], $5::text[], $6::bigint[], $7::bigint[],
    $8::text[], $9::bigint[], $10::bigint[], $11::text[]
  ) AS x (
    fence, token, state, outcome, outcome_reason, exit_code, signal, detail, started_at,
    ended_at, late_report
  )
WHERE attempt.fence = x.fence
  AND attempt.token = x.token
