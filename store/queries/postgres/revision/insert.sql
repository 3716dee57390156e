-- Keeps edits of jobs.
INSERT INTO job_revision (
  job_id, revision, since, spec, actor, why, source, created_at
)
SELECT
  x.job_id, x.revision, x.since, x.spec::json, x.actor, x.why, x.source, x.created_at
FROM unnest(
    $1::bigint[], $2::bigint[], $3::bigint[], $4::text[], $5::text[], $6::text[], $7::text[],
    $8::bigint[]
  ) AS x (
    job_id, revision, since, spec, actor, why, source, created_at
  )
