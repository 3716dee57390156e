-- The holder takes its next term. What of the present one is under way ends before this, or finds no row.
UPDATE leadership SET epoch = epoch + 1, renew_seq = renew_seq + 1
WHERE id = 1 AND epoch = $1 AND holder = $2
