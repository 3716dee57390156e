-- Adds to a log what of the bytes lies beyond its end, if they begin at or before the end. Answers its length
-- before and after; another writer who was quicker leaves both as they were.
WITH tail AS (
  SELECT coalesce((
    SELECT at_byte + octet_length(bytes) FROM log_segment
    WHERE fence = $1 ORDER BY at_byte DESC LIMIT 1
  ), 0) AS size
),
added AS (
  INSERT INTO log_segment (fence, at_byte, bytes)
  SELECT $1, size, substring($3::bytea FROM (size - $2 + 1)::int)
  FROM tail
  WHERE $2 <= size AND $2 + octet_length($3::bytea) > size
  ON CONFLICT DO NOTHING
  RETURNING at_byte + octet_length(bytes) AS size
)
SELECT tail.size, coalesce(added.size, tail.size)
FROM tail
LEFT JOIN added ON TRUE
