-- Makes workers.
WITH input AS MATERIALIZED (SELECT value AS v FROM json_each($1))
INSERT INTO worker (
  worker_id, name, incarnation, state_id, instance_id, host_groups, labels, capacity, program,
  draining, registered_at, seq
)
SELECT
  v->>0, v->>1, v->>2, v->>3, v->>4, v->>5, v->>6, v->>7, v->>8, v->>9, v->>10, v->>11
FROM input
