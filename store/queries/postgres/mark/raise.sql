-- Raises the highest ids in use; they never go back.
UPDATE id_mark
SET
  job = GREATEST(job, $1), job_group = GREATEST(job_group, $2), action = GREATEST(action, $3),
  run = GREATEST(run, $4), fence = GREATEST(fence, $5), worker = GREATEST(worker, $6)
WHERE id = 1
