-- Makes cursors.
INSERT INTO job_cursor (
  job_id, decided_to, planned_to, seq
)
SELECT
  value->>0, value->>1, value->>2, value->>3
FROM json_each($1)
