-- Changes that people asked for; which of them, and how many, follows.
SELECT
  u.audit_id, u.at, u.actor, u.why, u.verb, u.subject, CAST(u.old_value AS text), CAST(u.new_value AS text)
FROM audit u
WHERE TRUE
