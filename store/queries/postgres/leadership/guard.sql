-- The first statement of each commit. The lock makes a takeover, which changes the key `epoch`, wait for this
-- commit; a commit that comes behind a takeover finds no row. The leader's own renewals change no key.
SELECT now_ms(), m.job, m.job_group, m.action, m.run, m.fence, m.worker
FROM leadership l
CROSS JOIN id_mark m
WHERE l.id = 1 AND l.epoch = $1
FOR KEY SHARE OF l
