-- The segments that `[$2, $2 + $3)` touches.
SELECT at_byte, bytes
FROM log_segment
WHERE fence = $1
  AND at_byte < $2::bigint + $3::bigint
  AND at_byte >= coalesce((
    SELECT max(at_byte) FROM log_segment WHERE fence = $1 AND at_byte <= $2
  ), 0)
ORDER BY at_byte
