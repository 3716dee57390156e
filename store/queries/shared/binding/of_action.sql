SELECT upstream_job, upstream_version, on_end
FROM binding
WHERE action_id = $1
ORDER BY upstream_job, upstream_version
