-- Makes cursors.
INSERT INTO job_cursor (
  job_id, decided_to, planned_to, seq
)
SELECT
  x.job_id, x.decided_to, x.planned_to, x.seq
FROM unnest(
    $1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[]
  ) AS x (
    job_id, decided_to, planned_to, seq
  )
