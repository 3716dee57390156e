-- Unbinds actions.
DELETE FROM binding WHERE action_id IN (SELECT value FROM json_each($1))
