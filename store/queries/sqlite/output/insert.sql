-- Keeps what attempts wrote for downstream; of a second write the last stays.
INSERT INTO output (
  fence, bytes
)
SELECT
  value->>0, unhex(value->>1)
FROM json_each($1)
WHERE TRUE -- or the parser takes ON for the beginning of a join
ON CONFLICT (fence) DO UPDATE SET bytes = excluded.bytes
