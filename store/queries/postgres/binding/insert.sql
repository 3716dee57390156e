-- Binds actions to upstream versions.
INSERT INTO binding (
  action_id, upstream_job, upstream_version, on_end
)
SELECT
  x.action_id, x.upstream_job, x.upstream_version, x.on_end
FROM unnest(
    $1::bigint[], $2::bigint[], $3::bigint[], $4::text[]
  ) AS x (
    action_id, upstream_job, upstream_version, on_end
  )
