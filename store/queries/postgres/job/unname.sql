-- Frees the paths of jobs that move, so that two of them may trade theirs. No path begins with `~`.
UPDATE job SET path = '~' || job_id::text WHERE job_id = ANY ($1)
