-- Takes planned actions away; any other state is refused by the trigger.
DELETE FROM action WHERE action_id IN (SELECT value FROM json_each($1))
