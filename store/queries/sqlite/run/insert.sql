-- Makes runs.
INSERT INTO run (
  run_id, action_id, job_id, version, number, trigger_kind, actor, why, revision, set_config,
  urgency, exclusive, lease_ms, retries, restarts, at_most_once, start_by, state, reason,
  not_before, hb_seq, attempts, starts, failures, losses, token, fence, worker_id, incarnation,
  lease_until, cancel, final_token, queued_at, started_at, ended_at
)
SELECT
  value->>0, value->>1, value->>2, value->>3, value->>4, value->>5, value->>6, value->>7,
  value->>8, value->>9, value->>10, value->>11, value->>12, value->>13, value->>14, value->>15,
  value->>16, value->>17, value->>18, value->>19, value->>20, value->>21, value->>22,
  value->>23, value->>24, value->>25, value->>26, value->>27, value->>28, value->>29,
  value->>30, value->>31, value->>32, value->>33, value->>34
FROM json_each($1)
