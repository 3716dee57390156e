-- What several actions wait for; which ones follows.
SELECT action_id, upstream_job, upstream_version, on_end
FROM binding
WHERE TRUE
