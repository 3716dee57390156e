-- Reads and locks, lowest first: what a batch believes something about.
SELECT worker_id, seq
FROM worker
WHERE worker_id = ANY ($1)
ORDER BY worker_id
FOR NO KEY UPDATE
