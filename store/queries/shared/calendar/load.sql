-- All edits of all calendars.
SELECT
  c.name, c.revision, c.since, CAST(c.spec AS text), c.actor, c.why, c.created_at
FROM calendar c
ORDER BY c.name, c.revision
