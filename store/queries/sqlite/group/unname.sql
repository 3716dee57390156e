-- Frees the paths of groups that change, so that two of them may trade theirs. No path begins with `~`.
UPDATE job_group SET path = '~' || group_id WHERE group_id IN (SELECT value FROM json_each($1))
