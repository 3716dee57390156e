SELECT
  w.worker_id, w.name, w.incarnation, w.state_id, w.instance_id, CAST(w.host_groups AS text),
  CAST(w.labels AS text), w.capacity, w.program, w.draining, w.registered_at, w.seq
FROM worker w
ORDER BY w.worker_id
