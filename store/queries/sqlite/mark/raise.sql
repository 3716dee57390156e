-- Raises the highest ids in use; they never go back.
UPDATE id_mark
SET
  job = MAX(job, $1), job_group = MAX(job_group, $2), action = MAX(action, $3),
  run = MAX(run, $4), fence = MAX(fence, $5), worker = MAX(worker, $6)
WHERE id = 1
