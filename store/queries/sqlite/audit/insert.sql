-- Keeps who changed what.
INSERT INTO audit (
  at, actor, why, verb, subject, old_value, new_value
)
SELECT
  value->>0, value->>1, value->>2, value->>3, value->>4, value->>5, value->>6
FROM json_each($1)
