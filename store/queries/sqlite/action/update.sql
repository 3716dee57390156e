-- Changes actions that are still as believed; whose they are, and for which version, never changes.
WITH input AS MATERIALIZED (SELECT value AS v FROM json_each($1)),
x AS (
  SELECT
    v->>0 AS action_id, v->>1 AS believed, v->>2 AS job_id, v->>3 AS version, v->>4 AS zone,
    v->>5 AS data_from, v->>6 AS data_to, v->>7 AS data_date, v->>8 AS state, v->>9 AS reason,
    v->>10 AS outcome, v->>11 AS outcome_reason, v->>12 AS counted_run, v->>13 AS live_run,
    v->>14 AS runs, v->>15 AS revision, v->>16 AS seq, v->>17 AS actor, v->>18 AS decided_at,
    v->>19 AS ended_at
  FROM input
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
