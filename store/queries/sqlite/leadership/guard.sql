-- The first statement of each commit; exact, since it runs in the one writer's transaction.
SELECT CAST(unixepoch('subsec') * 1000 AS INTEGER), m.job, m.job_group, m.action, m.run, m.fence, m.worker
FROM leadership l
CROSS JOIN id_mark m
WHERE l.id = 1 AND l.epoch = $1
