-- Binds actions to upstream versions.
INSERT INTO binding (
  action_id, upstream_job, upstream_version, on_end
)
SELECT
  value->>0, value->>1, value->>2, value->>3
FROM json_each($1)
