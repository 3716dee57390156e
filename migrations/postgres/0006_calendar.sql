-- Calendars: each row is one edit, and none is ever changed. No spec: the calendar was deleted.
CREATE TABLE calendar (
  name text NOT NULL,
  revision bigint NOT NULL,
  since bigint NOT NULL,
  spec json, -- json, not jsonb: a document comes back as it was written
  actor text NOT NULL,
  why text NOT NULL,
  created_at bigint NOT NULL,
  PRIMARY KEY (name, revision)
);
