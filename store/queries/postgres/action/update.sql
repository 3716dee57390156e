-- Changes actions that are still as believed; whose they are, and for which version, never changes.
UPDATE action
SET
  zone = x.zone, data_from = x.data_from, data_to = x.data_to, data_date = x.data_date,
  state = x.state, reason = x.reason, outcome = x.outcome, outcome_reason = x.outcome_reason,
  counted_run = x.counted_run, live_run = x.live_run, runs = x.runs, revision = x.revision,
  seq = x.seq, actor = x.actor, decided_at = x.decided_at, ended_at = x.ended_at
FROM unnest(
    $1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::text[], $6::bigint[],
    $7::bigint[], $8::text[], $9::text[], $10::text[], $11::text[], $12::text[], $13::bigint[],
    $14::bigint[], $15::bigint[], $16::bigint[], $17::bigint[], $18::text[], $19::bigint[],
    $20::bigint[]
  ) AS x (
    action_id, believed, job_id, version, zone, data_from, data_to, data_date, state, reason,
    outcome, outcome_reason, counted_run, live_run, runs, revision, seq, actor, decided_at,
    ended_at
  )
WHERE action.action_id = x.action_id
  AND action.seq = x.believed
  AND action.job_id = x.job_id
  AND action.version = x.version
