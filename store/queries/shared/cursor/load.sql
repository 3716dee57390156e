-- All cursors; whose follows.
SELECT
  c.job_id, c.decided_to, c.planned_to, c.seq
FROM job_cursor c
JOIN job j ON j.job_id = c.job_id
WHERE TRUE
