-- Makes workers.
INSERT INTO worker (
  worker_id, name, incarnation, state_id, instance_id, host_groups, labels, capacity, program,
  draining, registered_at, seq
)
SELECT
  x.worker_id, x.name, x.incarnation, x.state_id, x.instance_id, x.host_groups::json,
  x.labels::json, x.capacity, x.program, x.draining, x.registered_at, x.seq
FROM unnest(
    $1::bigint[], $2::text[], $3::bigint[], $4::text[], $5::text[], $6::text[], $7::text[],
    $8::bigint[], $9::text[], $10::boolean[], $11::bigint[], $12::bigint[]
  ) AS x (
    worker_id, name, incarnation, state_id, instance_id, host_groups, labels, capacity,
    program, draining, registered_at, seq
  )
