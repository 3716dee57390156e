-- Frees the paths of jobs that move, so that two of them may trade theirs. No path begins with `~`.
UPDATE job SET path = '~' || job_id WHERE job_id IN (SELECT value FROM json_each($1))
