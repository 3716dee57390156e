-- Takes the next term, if the row is as it was seen.
UPDATE leadership
SET epoch = epoch + 1, holder = $3, address = $4, renew_seq = renew_seq + 1, renewed_at = now_ms()
WHERE id = 1 AND epoch = $1 AND renew_seq = $2
RETURNING epoch
