-- Keeps what attempts wrote for downstream; of a second write the last stays.
INSERT INTO output (
  fence, bytes
)
SELECT
  x.fence, x.bytes
FROM unnest(
    $1::bigint[], $2::bytea[]
  ) AS x (
    fence, bytes
  )
ON CONFLICT (fence) DO UPDATE SET bytes = excluded.bytes
