-- How long these logs are.
SELECT x.fence, s.at_byte + octet_length(s.bytes)
FROM unnest($1::bigint[]) AS x (fence)
CROSS JOIN LATERAL (
  SELECT at_byte, bytes FROM log_segment WHERE fence = x.fence ORDER BY at_byte DESC LIMIT 1
) AS s
