-- Makes groups.
INSERT INTO job_group (
  group_id, path, spec, seq, created_at
)
SELECT
  value->>0, value->>1, value->>2, value->>3, value->>4
FROM json_each($1)
