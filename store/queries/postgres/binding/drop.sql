-- Unbinds actions.
DELETE FROM binding WHERE action_id = ANY ($1)
