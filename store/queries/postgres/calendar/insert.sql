-- Keeps edits of calendars.
INSERT INTO calendar (
  name, revision, since, spec, actor, why, created_at
)
SELECT
  x.name, x.revision, x.since, x.spec::json, x.actor, x.why, x.created_at
FROM unnest(
    $1::text[], $2::bigint[], $3::bigint[], $4::text[], $5::text[], $6::text[], $7::bigint[]
  ) AS x (
    name, revision, since, spec, actor, why, created_at
  )
