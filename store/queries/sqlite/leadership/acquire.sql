-- Takes the next term: who has the lock of the folder may.
UPDATE leadership
SET epoch = epoch + 1, holder = $1, address = $2, renew_seq = renew_seq + 1, renewed_at = CAST(unixepoch('subsec') * 1000 AS INTEGER)
WHERE id = 1
RETURNING epoch
