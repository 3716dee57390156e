-- Calendars: each row is one edit, and none is ever changed. No spec: the calendar was deleted.
CREATE TABLE calendar (
  name TEXT NOT NULL,
  revision INTEGER NOT NULL,
  since INTEGER NOT NULL,
  spec TEXT CHECK (spec IS NULL OR json_valid(spec)),
  actor TEXT NOT NULL,
  why TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (name, revision)
) STRICT, WITHOUT ROWID;
