-- Changes actions that are still as believed; whose they are, and for which version, never changes.
WITH x AS (
  SELECT
    value->>0 AS action_id, value->>1 AS believed, value->>2 AS job_id, value->>3 AS version,
    value->>4 AS zone, value->>5 AS data_from, value->>6 AS data_to, value->>7 AS data_date,
    value->>8 AS state, value->>9 AS reason, value->>10 AS outcome,
    value->>11 AS outcome_reason, value->>12 AS counted_run, value->>13 AS live_run,
    value->>14 AS runs, value->>15 AS revision, value->>16 AS seq, value->>17 AS actor,
    value->>18 AS decided_at, value->>19 AS ended_at
  FROM json_each($1)
)
UPDATE action
SET
  zone = x.zone, data_from = x.data_from, data_to = x.data_to, data_date = x.data_date,
  state = x.state, reason = x.reason, outcome = x.outcome, outcome_reason = x.outcome_reason,
  counted_run = x.counted_run, live_run = x.live_run, runs = x.runs, revision = x.revision,
  seq = x.seq, actor = x.actor, decided_at = x.decided_at, ended_at = x.ended_at
FROM x
WHERE action.action_id = x.action_id
  AND action.seq = x.believed
  AND action.job_id = x.job_id
  AND action.version = x.version
