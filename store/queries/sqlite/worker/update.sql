-- Changes workers that are still as believed.
WITH x AS (
  SELECT
    value->>0 AS worker_id, value->>1 AS believed, value->>2 AS name, value->>3 AS incarnation,
    value->>4 AS state_id, value->>5 AS instance_id, value->>6 AS host_groups,
    value->>7 AS labels, value->>8 AS capacity, value->>9 AS program, value->>10 AS draining,
    value->>11 AS registered_at, value->>12 AS seq
  FROM json_each($1)
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
