-- Changes groups, if the change is newer than what is there.
UPDATE job_group
SET
  path = x.path, spec = x.spec::json, seq = x.seq, hands = x.hands::json
FROM unnest(
    $1::bigint[], $2::text[], $3::text[], $4::bigint[], $5::text[]
  ) AS x (
    group_id, path, spec, seq, hands
  )
WHERE job_group.group_id = x.group_id
  AND job_group.seq < x.seq
