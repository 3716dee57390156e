-- Makes actions.
WITH input AS MATERIALIZED (SELECT value AS v FROM json_each($1))
INSERT INTO action (
  action_id, job_id, version, zone, data_from, data_to, data_date, state, reason, outcome,
  outcome_reason, counted_run, live_run, runs, revision, seq, actor, created_at, decided_at,
  ended_at
)
SELECT
  v->>0, v->>1, v->>2, v->>3, v->>4, v->>5, v->>6, v->>7, v->>8, v->>9, v->>10, v->>11, v->>12,
  v->>13, v->>14, v->>15, v->>16, v->>17, v->>18, v->>19
FROM input
