-- Keeps gaps; one that grows takes the place of what it was.
INSERT INTO slot_gap (
  job_id, from_version, to_version, count, reason, created_at
)
SELECT
  x.job_id, x.from_version, x.to_version, x.count, x.reason, x.created_at
FROM unnest(
    $1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::text[], $6::bigint[]
  ) AS x (
    job_id, from_version, to_version, count, reason, created_at
  )
ON CONFLICT (job_id, from_version) DO UPDATE
SET to_version = excluded.to_version, count = excluded.count, reason = excluded.reason
