-- Makes actions.
INSERT INTO action (
  action_id, job_id, version, zone, data_from, data_to, data_date, state, reason, outcome,
  outcome_reason, counted_run, live_run, runs, revision, seq, actor, created_at, decided_at,
  ended_at
)
SELECT
  x.action_id, x.job_id, x.version, x.zone, x.data_from, x.data_to, x.data_date, x.state,
  x.reason, x.outcome, x.outcome_reason, x.counted_run, x.live_run, x.runs, x.revision, x.seq,
  x.actor, x.created_at, x.decided_at, x.ended_at
FROM unnest(
    $1::bigint[], $2::bigint[], $3::bigint[], $4::text[], $5::bigint[], $6::bigint[],
    $7::text[], $8::text[], $9::text[], $10::text[], $11::text[], $12::bigint[], $13::bigint[],
    $14::bigint[], $15::bigint[], $16::bigint[], $17::text[], $18::bigint[], $19::bigint[],
    $20::bigint[]
  ) AS x (
    action_id, job_id, version, zone, data_from, data_to, data_date, state, reason, outcome,
    outcome_reason, counted_run, live_run, runs, revision, seq, actor, created_at, decided_at,
    ended_at
  )
