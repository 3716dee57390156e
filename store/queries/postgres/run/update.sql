-- Changes runs that are still as believed. What a run was given when it was made is not written again.
UPDATE run
SET
  urgency = x.urgency, state = x.state, reason = x.reason, not_before = x.not_before,
  hb_seq = x.hb_seq, attempts = x.attempts, starts = x.starts, failures = x.failures,
  losses = x.losses, token = x.token, fence = x.fence, worker_id = x.worker_id,
  incarnation = x.incarnation, lease_until = x.lease_until, cancel = x.cancel,
  final_token = x.final_token, queued_at = x.queued_at, started_at = x.started_at,
  ended_at = x.ended_at
FROM unnest(
    $1::bigint[], $2::bigint[], $3::text[], $4::bigint[], $5::bigint[], $6::text[], $7::text[],
    $8::bigint[], $9::bigint[], $10::bigint[], $11::bigint[], $12::bigint[], $13::bigint[],
    $14::text[], $15::bigint[], $16::bigint[], $17::bigint[], $18::bigint[], $19::text[],
    $20::text[], $21::bigint[], $22::bigint[], $23::bigint[]
  ) AS x (
    run_id, believed_seq, believed_token, action_id, urgency, state, reason, not_before,
    hb_seq, attempts, starts, failures, losses, token, fence, worker_id, incarnation,
    lease_until, cancel, final_token, queued_at, started_at, ended_at
  )
WHERE run.run_id = x.run_id
  AND run.action_id = x.action_id
  AND run.hb_seq = x.believed_seq
  AND run.token IS NOT DISTINCT FROM x.believed_token
