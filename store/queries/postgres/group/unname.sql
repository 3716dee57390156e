-- Frees the paths of groups that change, so that two of them may trade theirs. No path begins with `~`.
UPDATE job_group SET path = '~' || group_id::text WHERE group_id = ANY ($1)
