-- Changes workers that are still as believed.
UPDATE worker
SET
  name = x.name, incarnation = x.incarnation, state_id = x.state_id,
  instance_id = x.instance_id, host_groups = x.host_groups::json, labels = x.labels::json,
  capacity = x.capacity, program = x.program, draining = x.draining,
  registered_at = x.registered_at, seq = x.seq
FROM unnest(
    $1::bigint[], $2::bigint[], $3::text[], $4::bigint[], $5::text[], $6::text[], $7::text[],
    $8::text[], $9::bigint[], $10::text[], $11::boolean[], $12::bigint[], $13::bigint[]
  ) AS x (
    worker_id, believed, name, incarnation, state_id, instance_id, host_groups, labels,
    capacity, program, draining, registered_at, seq
  )
WHERE worker.worker_id = x.worker_id
  AND worker.seq = x.believed
