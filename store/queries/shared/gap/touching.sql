SELECT
  g.job_id, g.from_version, g.to_version, g.count, g.reason, g.created_at
FROM slot_gap g
WHERE g.job_id = $1 AND g.from_version <= $3 AND g.to_version >= $2
ORDER BY g.from_version
