-- Changes groups, if the change is newer than what is there.
WITH x AS (
  SELECT
    value->>0 AS group_id, value->>1 AS path, value->>2 AS spec, value->>3 AS seq
  FROM json_each($1)
)
UPDATE job_group
SET
  path = x.path, spec = x.spec, seq = x.seq
FROM x
WHERE job_group.group_id = x.group_id
  AND job_group.seq < x.seq
