-- Makes attempts.
INSERT INTO attempt (
  fence, run_id, number, token, worker_id, incarnation, epoch, state, outcome, outcome_reason,
  exit_code, signal, detail, leased_at, started_at, ended_at, late_report
)
SELECT
  value->>0, value->>1, value->>2, value->>3, value->>4, value->>5, value->>6, value->>7,
  value->>8, value->>9, value->>10, value->>11, value->>12, value->>13, value->>14, value->>15,
  value->>16
FROM json_each($1)
