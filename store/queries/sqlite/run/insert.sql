-- Makes runs.
WITH input AS MATERIALIZED (SELECT value AS v FROM json_each($1))
INSERT INTO run (
  run_id, action_id, job_id, version, number, trigger_kind, actor, why, revision, set_config,
  urgency, exclusive, lease_ms, retries, restarts, at_most_once, start_by, state, reason,
  not_before, hb_seq, attempts, starts, failures, losses, token, fence, worker_id, incarnation,
  lease_until, cancel, final_token, queued_at, started_at, ended_at
)
SELECT
  v->>0, v->>1, v->>2, v->>3, v->>4, v->>5, v->>6, v->>7, v->>8, v->>9, v->>10, v->>11, v->>12,
  v->>13, v->>14, v->>15, v->>16, v->>17, v->>18, v->>19, v->>20, v->>21, v->>22, v->>23,
  v->>24, v->>25, v->>26, v->>27, v->>28, v->>29, v->>30, v->>31, v->>32, v->>33, v->>34
FROM input
