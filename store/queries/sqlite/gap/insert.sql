-- Keeps gaps; one that grows takes the place of what it was.
INSERT INTO slot_gap (
  job_id, from_version, to_version, count, reason, created_at
)
SELECT
  value->>0, value->>1, value->>2, value->>3, value->>4, value->>5
FROM json_each($1)
WHERE TRUE -- or the parser takes ON for the beginning of a join
ON CONFLICT (job_id, from_version) DO UPDATE
SET to_version = excluded.to_version, count = excluded.count, reason = excluded.reason
