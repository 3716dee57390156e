-- Moves cursors that are still as believed.
WITH input AS MATERIALIZED (SELECT value AS v FROM json_each($1)),
x AS (
  SELECT
    v->>0 AS job_id, v->>1 AS believed, v->>2 AS decided_to, v->>3 AS planned_to, v->>4 AS seq
  FROM input
)
UPDATE job_cursor
SET
  decided_to = x.decided_to, planned_to = x.planned_to, seq = x.seq
FROM x
WHERE job_cursor.job_id = x.job_id
  AND job_cursor.seq = x.believed
