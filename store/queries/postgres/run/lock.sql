-- Reads and locks, lowest first: what a batch believes something about.
SELECT run_id, hb_seq, token
FROM run
WHERE run_id = ANY ($1)
ORDER BY run_id
FOR NO KEY UPDATE
