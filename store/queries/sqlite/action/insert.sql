-- Makes actions.
INSERT INTO action (
  action_id, job_id, version, zone, data_from, data_to, data_date, state, reason, outcome,
  outcome_reason, counted_run, live_run, runs, revision, seq, actor, created_at, decided_at,
  ended_at
)
SELECT
  value->>0, value->>1, value->>2, value->>3, value->>4, value->>5, value->>6, value->>7,
  value->>8, value->>9, value->>10, value->>11, value->>12, value->>13, value->>14, value->>15,
  value->>16, value->>17, value->>18, value->>19
FROM json_each($1)
