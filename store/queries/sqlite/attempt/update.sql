-- Changes attempts, each under its token; one that has ended is protected by its trigger.
WITH x AS (
  SELECT
    value->>0 AS fence, value->>1 AS token, value->>2 AS state, value->>3 AS outcome,
    value->>4 AS outcome_reason, value->>5 AS exit_code, value->>6 AS signal,
    value->>7 AS detail, value->>8 AS started_at, value->>9 AS ended_at,
    value->>10 AS late_report
  FROM json_each($1)
)
UPDATE attempt
SET
  state = x.state, outcome = x.outcome, outcome_reason = x.outcome_reason,
  exit_code = x.exit_code, signal = x.signal, detail = x.detail, started_at = x.started_at,
  ended_at = x.ended_at, late_report = x.late_report
FROM x
WHERE attempt.fence = x.fence
  AND attempt.token = x.token
