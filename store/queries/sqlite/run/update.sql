-- Changes runs that are still as believed. What a run was given when it was made is not written again.
WITH x AS (
  SELECT
    value->>0 AS run_id, value->>1 AS believed_seq, value->>2 AS believed_token,
    value->>3 AS action_id, value->>4 AS urgency, value->>5 AS state, value->>6 AS reason,
    value->>7 AS not_before, value->>8 AS hb_seq, value->>9 AS attempts, value->>10 AS starts,
    value->>11 AS failures, value->>12 AS losses, value->>13 AS token, value->>14 AS fence,
    value->>15 AS worker_id, value->>16 AS incarnation, value->>17 AS lease_until,
    value->>18 AS cancel, value->>19 AS final_token, value->>20 AS queued_at,
    value->>21 AS started_at, value->>22 AS ended_at
  FROM json_each($1)
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
