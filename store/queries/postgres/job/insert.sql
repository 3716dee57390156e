-- Makes jobs.
INSERT INTO job (
  job_id, path, revision, seq, open, parked, hands, created_at, deleted_at
)
SELECT
  x.job_id, x.path, x.revision, x.seq, x.open, x.parked, x.hands::json, x.created_at, x.deleted_at
FROM unnest(
    $1::bigint[], $2::text[], $3::bigint[], $4::bigint[], $5::boolean[], $6::text[],
    $7::text[], $8::bigint[], $9::bigint[]
  ) AS x (
    job_id, path, revision, seq, open, parked, hands, created_at, deleted_at
  )
