-- Makes runs.
INSERT INTO run (
  run_id, action_id, job_id, version, number, trigger_kind, actor, why, revision, set_config,
  urgency, exclusive, lease_ms, retries, restarts, at_most_once, start_by, state, reason,
  not_before, hb_seq, attempts, starts, failures, losses, token, fence, worker_id, incarnation,
  lease_until, cancel, final_token, queued_at, started_at, ended_at
)
SELECT
  x.run_id, x.action_id, x.job_id, x.version, x.number, x.trigger_kind, x.actor, x.why,
  x.revision, x.set_config::json, x.urgency, x.exclusive, x.lease_ms, x.retries, x.restarts,
  x.at_most_once, x.start_by, x.state, x.reason, x.not_before, x.hb_seq, x.attempts, x.starts,
  x.failures, x.losses, x.token, x.fence, x.worker_id, x.incarnation, x.lease_until, x.cancel,
  x.final_token, x.queued_at, x.started_at, x.ended_at
FROM unnest(
    $1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::text[],
    $7::text[], $8::text[], $9::bigint[], $10::text[], $11::bigint[], $12::boolean[],
    $13::bigint[], $14::bigint[], $15::bigint[], $16::boolean[], $17::bigint[], $18::text[],
    $19::text[], $20::bigint[], $21::bigint[], $22::bigint[], $23::bigint[], $24::bigint[],
    $25::bigint[], $26::text[], $27::bigint[], $28::bigint[], $29::bigint[], $30::bigint[],
    $31::text[], $32::text[], $33::bigint[], $34::bigint[], $35::bigint[]
  ) AS x (
    run_id, action_id, job_id, version, number, trigger_kind, actor, why, revision, set_config,
    urgency, exclusive, lease_ms, retries, restarts, at_most_once, start_by, state, reason,
    not_before, hb_seq, attempts, starts, failures, losses, token, fence, worker_id,
    incarnation, lease_until, cancel, final_token, queued_at, started_at, ended_at
  )
