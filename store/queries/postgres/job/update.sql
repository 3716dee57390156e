-- Changes jobs that are still as believed.
UPDATE job
SET
  path = x.path, revision = x.revision, seq = x.seq, open = x.open, parked = x.parked,
  hands = x.hands::json, deleted_at = x.deleted_at
FROM unnest(
    $1::bigint[], $2::bigint[], $3::text[], $4::bigint[], $5::bigint[], $6::boolean[],
    $7::text[], $8::text[], $9::bigint[]
  ) AS x (
    job_id, believed, path, revision, seq, open, parked, hands, deleted_at
  )
WHERE job.job_id = x.job_id
  AND job.seq = x.believed
