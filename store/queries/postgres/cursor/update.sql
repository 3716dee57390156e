-- Moves cursors that are still as believed.
UPDATE job_cursor
SET
  decided_to = x.decided_to, planned_to = x.planned_to, seq = x.seq
FROM unnest(
    $1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[]
  ) AS x (
    job_id, believed, decided_to, planned_to, seq
  )
WHERE job_cursor.job_id = x.job_id
  AND job_cursor.seq = x.believed
