-- Changes runs that are still as believed. What a run was given when it was made is not written again.
WITH input AS MATERIALIZED (SELECT value AS v FROM json_each($1)),
x AS (
  SELECT
    v->>0 AS run_id, v->>1 AS believed_seq, v->>2 AS believed_token, v->>3 AS action_id,
    v->>4 AS urgency, v->>5 AS state, v->>6 AS reason, v->>7 AS not_before, v->>8 AS hb_seq,
    v->>9 AS attempts, v->>10 AS starts, v->>11 AS failures, v->>12 AS losses, v->>13 AS token,
    v->>14 AS fence, v->>15 AS worker_id, v->>16 AS incarnation, v->>17 AS lease_until,
    v->>18 AS cancel, v->>19 AS final_token, v->>20 AS queued_at, v->>21 AS started_at,
    v->>22 AS ended_at
  FROM input
)
UPDATE run
SET
  urgency = x.urgency, state = x.state, reason = x.reason, not_before = x.not_before,
  hb_seq = x.hb_seq, attempts = x.attempts, starts = x.starts, failures = x.failures,
  losses = x.losses, token = x.token, fence = x.fence, worker_id = x.worker_id,
  incarnation = x.incarnation, lease_until = x.lease_until, cancel = x.cancel,
  final_token = x.final_token, queued_at = x.queued_at, started_at = x.started_at,
  ended_at = x.ended_at
FROM x
WHERE run.run_id = x.run_id
  AND run.action_id = x.action_id
  AND run.hb_seq = x.believed_seq
  AND run.token IS NOT DISTINCT FROM x.believed_token
