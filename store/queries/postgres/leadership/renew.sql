-- Tells standbys that the leader lives.
UPDATE leadership
SET renew_seq = renew_seq + 1, renewed_at = now_ms()
WHERE id = 1 AND epoch = $1 AND holder = $2
RETURNING now_ms()
