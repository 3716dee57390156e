-- The clock, and the highest ids in use.
SELECT now_ms(), job, job_group, action, run, fence, worker FROM id_mark WHERE id = 1
