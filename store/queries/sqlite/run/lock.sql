-- Reads; the one writer needs no lock: what a batch believes something about.
SELECT run_id, hb_seq, token
FROM run
WHERE run_id IN (SELECT value FROM json_each($1))
ORDER BY run_id
