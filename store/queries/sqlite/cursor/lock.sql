-- Reads; the one writer needs no lock: what a batch believes something about.
SELECT job_id, seq
FROM job_cursor
WHERE job_id IN (SELECT value FROM json_each($1))
ORDER BY job_id
