-- Gives the leadership up; a standby sees it at its next look.
UPDATE leadership SET holder = NULL, renew_seq = renew_seq + 1
WHERE id = 1 AND epoch = $1 AND holder = $2
