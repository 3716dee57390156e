SELECT
  u.at, u.actor, u.why, u.verb, u.subject, CAST(u.old_value AS text), CAST(u.new_value AS text)
FROM audit u
WHERE u.subject = $1
ORDER BY u.audit_id DESC
LIMIT $2
