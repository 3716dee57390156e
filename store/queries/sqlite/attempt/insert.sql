-- Makes attempts.
WITH input AS MATERIALIZED (SELECT value AS v FROM json_each($1))
INSERT INTO attempt (
  fence, run_id, number, token, worker_id, incarnation, epoch, state, outcome, outcome_reason,
  exit_code, signal, detail, leased_at, started_at, ended_at, late_report
)
SELECT
  v->>0, v->>1, v->>2, v->>3, v->>4, v->>5, v->>6, v->>7, v->>8, v->>9, v->>10, v->>11, v->>12,
  v->>13, v->>14, v->>15, v->>16
FROM input
