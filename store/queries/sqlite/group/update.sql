-- Changes groups, if the change is newer than what is there.
WITH input AS MATERIALIZED (SELECT value AS v FROM json_each($1)),
x AS (
  SELECT
    v->>0 AS group_id, v->>1 AS path, v->>2 AS spec, v->>3 AS seq, v->>4 AS hands
  FROM input
)
UPDATE job_group
SET
  path = x.path, spec = x.spec, seq = x.seq, hands = x.hands
FROM x
WHERE job_group.group_id = x.group_id
  AND job_group.seq < x.seq
