-- Keeps who changed what.
INSERT INTO audit (
  at, actor, why, verb, subject, old_value, new_value
)
SELECT
  x.at, x.actor, x.why, x.verb, x.subject, x.old_value::json, x.new_value::json
FROM unnest(
    $1::bigint[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[]
  ) AS x (
    at, actor, why, verb, subject, old_value, new_value
  )
