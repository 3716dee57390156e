-- Takes the next term. The lock of the folder is the leadership: whoever has it need not have seen the row, so that
-- $1 and $2, the epoch and the number of renewals that were seen, are not asked for.
UPDATE leadership
SET epoch = epoch + 1, holder = $3, address = $4, renew_seq = renew_seq + 1, renewed_at = CAST(unixepoch('subsec') * 1000 AS INTEGER)
WHERE id = 1
RETURNING epoch
