-- A commit that was answered is on disk. Settings that wait for more than that are left as they are.
SELECT set_config('synchronous_commit', 'on', FALSE)
WHERE current_setting('synchronous_commit') IN ('off', 'local', 'remote_write')
