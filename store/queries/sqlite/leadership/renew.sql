-- Tells standbys that the leader lives.
UPDATE leadership
SET renew_seq = renew_seq + 1, renewed_at = CAST(unixepoch('subsec') * 1000 AS INTEGER)
WHERE id = 1 AND epoch = $1 AND holder = $2
RETURNING CAST(unixepoch('subsec') * 1000 AS INTEGER)
