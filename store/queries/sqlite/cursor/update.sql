-- Moves cursors that are still as believed.
WITH x AS (
  SELECT
    value->>0 AS job_id, value->>1 AS believed, value->>2 AS decided_to,
    value->>3 AS planned_to, value->>4 AS seq
  FROM json_each($1)
)
UPDATE job_cursor
SET
  decided_to = x.decided_to, planned_to = x.planned_to, seq = x.seq
FROM x
WHERE job_cursor.job_id = x.job_id
  AND job_cursor.seq = x.believed
