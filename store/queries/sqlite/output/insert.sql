-- Keeps what attempts wrote for downstream; of a second write the last stays.
WITH input AS MATERIALIZED (SELECT value AS v FROM json_each($1))
INSERT INTO output (
  fence, bytes
)
SELECT
  v->>0, unhex(v->>1)
FROM input
WHERE TRUE -- or the parser takes ON for the beginning of a join
ON CONFLICT (fence) DO UPDATE SET bytes = excluded.bytes
