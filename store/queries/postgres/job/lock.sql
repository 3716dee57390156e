-- Reads and locks, lowest first: what a batch believes something about.
SELECT job_id, seq, path
FROM job
WHERE job_id = ANY ($1)
ORDER BY job_id
FOR NO KEY UPDATE
