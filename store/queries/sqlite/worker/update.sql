-- Changes workers that are still as believed.
WITH input AS MATERIALIZED (SELECT value AS v FROM json_each($1)),
x AS (
  SELECT
    v->>0 AS worker_id, v->>1 AS believed, v->>2 AS name, v->>3 AS incarnation,
    v->>4 AS state_id, v->>5 AS instance_id, v->>6 AS host_groups, v->>7 AS labels,
    v->>8 AS capacity, v->>9 AS program, v->>10 AS draining, v->>11 AS registered_at,
    v->>12 AS seq
  FROM input
)
UPDATE worker
SET
  name = x.name, incarnation = x.incarnation, state_id = x.state_id,
  instance_id = x.instance_id, host_groups = x.host_groups, labels = x.labels,
  capacity = x.capacity, program = x.program, draining = x.draining,
  registered_at = x.registered_at, seq = x.seq
FROM x
WHERE worker.worker_id = x.worker_id
  AND worker.seq = x.believed
