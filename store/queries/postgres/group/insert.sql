-- Makes groups.
INSERT INTO job_group (
  group_id, path, spec, seq, hands, created_at
)
SELECT
  x.group_id, x.path, x.spec::json, x.seq, x.hands::json, x.created_at
FROM unnest(
    $1::bigint[], $2::text[], $3::text[], $4::bigint[], $5::text[], $6::bigint[]
  ) AS x (
    group_id, path, spec, seq, hands, created_at
  )
