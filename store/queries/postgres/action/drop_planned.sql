-- Takes planned actions away; any other state is refused by the trigger.
DELETE FROM action WHERE action_id = ANY ($1)
