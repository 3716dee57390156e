-- How long one statement of this transaction may take, milliseconds.
SELECT set_config('statement_timeout', $1, true)
