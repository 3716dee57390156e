-- Changes attempts, each under its token; one that has ended is protected by its trigger.
WITH input AS MATERIALIZED (SELECT value AS v FROM json_each($1)),
x AS (
  SELECT
    v->>0 AS fence, v->>1 AS token, v->>2 AS state, v->>3 AS outcome, v->>4 AS outcome_reason,
    v->>5 AS exit_code, v->>6 AS signal, v->>7 AS detail, v->>8 AS started_at,
    v->>9 AS ended_at, v->>10 AS late_report
  FROM input
)
UPDATE attempt
SET
  state = x.state, outcome = x.outcome, outcome_reason = x.outcome_reason,
  exit_code = x.exit_code, signal = x.signal, detail = x.detail, started_at = x.started_at,
  ended_at = x.ended_at, late_report = x.late_report
FROM x
WHERE attempt.fence = x.fence
  AND attempt.token = x.token
