-- The clock, and the highest ids in use.
SELECT CAST(unixepoch('subsec') * 1000 AS INTEGER), job, job_group, action, run, fence, worker FROM id_mark WHERE id = 1
