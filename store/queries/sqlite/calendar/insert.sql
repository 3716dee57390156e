-- Keeps edits of calendars.
WITH input AS MATERIALIZED (SELECT value AS v FROM json_each($1))
INSERT INTO calendar (
  name, revision, since, spec, actor, why, created_at
)
SELECT
  v->>0, v->>1, v->>2, v->>3, v->>4, v->>5, v->>6
FROM input
