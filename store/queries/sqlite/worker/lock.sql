-- Reads; the one writer needs no lock: what a batch believes something about.
SELECT worker_id, seq
FROM worker
WHERE worker_id IN (SELECT value FROM json_each($1))
ORDER BY worker_id
