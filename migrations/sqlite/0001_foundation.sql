-- Instants are milliseconds UTC in both databases; `seq` counts the changes of a row.

-- One row. UNIQUE(epoch) as its PostgreSQL twin, where it fences a commit; here one writer is enough.
CREATE TABLE leadership (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  epoch INTEGER NOT NULL UNIQUE,
  holder TEXT,
  address TEXT NOT NULL DEFAULT '',
  renew_seq INTEGER NOT NULL DEFAULT 0,
  renewed_at INTEGER NOT NULL DEFAULT 0 -- for people only: standbys go by `renew_seq` and their own clocks
) STRICT;
INSERT INTO leadership (id, epoch) VALUES (1, 0);

-- One row: made with the database, so that a restored copy can be told from the one it was taken from.
CREATE TABLE store_identity (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  store_id TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;
INSERT INTO store_identity VALUES (1, lower(hex(randomblob(16))), CAST(unixepoch('subsec') * 1000 AS INTEGER));

-- One row: the highest ids in use, so that no id is given twice, not even of a row that is gone.
CREATE TABLE id_mark (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  job INTEGER NOT NULL, job_group INTEGER NOT NULL, action INTEGER NOT NULL,
  run INTEGER NOT NULL, fence INTEGER NOT NULL, worker INTEGER NOT NULL
) STRICT;
INSERT INTO id_mark VALUES (1, 0, 0, 0, 0, 0, 0);

CREATE TABLE job_group (
  group_id INTEGER PRIMARY KEY,
  path TEXT NOT NULL UNIQUE,
  spec TEXT NOT NULL CHECK (json_valid(spec)),
  seq INTEGER NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;

CREATE TABLE job (
  job_id INTEGER PRIMARY KEY,
  path TEXT NOT NULL,
  revision INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  open INTEGER NOT NULL CHECK (open IN (0, 1)),
  parked TEXT,
  created_at INTEGER NOT NULL,
  deleted_at INTEGER
) STRICT;
CREATE UNIQUE INDEX job_path_live ON job (path) WHERE deleted_at IS NULL;

CREATE TABLE job_cursor (
  job_id INTEGER PRIMARY KEY REFERENCES job,
  decided_to INTEGER NOT NULL,
  planned_to INTEGER NOT NULL,
  seq INTEGER NOT NULL
) STRICT;

CREATE TABLE job_revision (
  job_id INTEGER NOT NULL REFERENCES job,
  revision INTEGER NOT NULL,
  since INTEGER NOT NULL,
  spec TEXT NOT NULL CHECK (json_valid(spec)),
  actor TEXT NOT NULL,
  why TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (job_id, revision)
) STRICT;

CREATE TABLE blob (
  digest TEXT PRIMARY KEY,
  bytes BLOB NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;

CREATE TABLE action (
  action_id INTEGER PRIMARY KEY,
  job_id INTEGER NOT NULL,
  version INTEGER NOT NULL,
  zone TEXT NOT NULL,
  data_from INTEGER NOT NULL,
  data_to INTEGER NOT NULL,
  data_date TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN
    ('planned', 'waiting', 'active', 'succeeded', 'failed', 'cancelled', 'skipped')),
  reason TEXT,
  outcome TEXT CHECK (outcome IN ('succeeded', 'failed', 'cancelled', 'skipped')),
  outcome_reason TEXT,
  counted_run INTEGER,
  live_run INTEGER,
  runs INTEGER NOT NULL,
  revision INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  actor TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  decided_at INTEGER,
  ended_at INTEGER,
  -- Of its own, so that a change of state alone touches no index.
  pending INTEGER NOT NULL GENERATED ALWAYS AS (
    state IN ('planned', 'waiting', 'active') OR live_run IS NOT NULL
  ) VIRTUAL,
  UNIQUE (job_id, version),
  CHECK ((state IN ('failed', 'skipped')) <= (reason IS NOT NULL)),
  CHECK (state <> 'active' OR live_run IS NOT NULL)
) STRICT;
CREATE INDEX action_pending ON action (job_id) WHERE pending;
CREATE INDEX action_version ON action (version, action_id);

CREATE TABLE binding (
  action_id INTEGER NOT NULL,
  upstream_job INTEGER NOT NULL,
  upstream_version INTEGER NOT NULL,
  on_end TEXT NOT NULL CHECK (on_end IN ('success', 'finished', 'failed')),
  PRIMARY KEY (action_id, upstream_job, upstream_version)
) STRICT, WITHOUT ROWID;
CREATE INDEX binding_upstream ON binding (upstream_job, upstream_version);

CREATE TABLE slot_gap (
  job_id INTEGER NOT NULL,
  from_version INTEGER NOT NULL,
  to_version INTEGER NOT NULL,
  count INTEGER NOT NULL,
  reason TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (job_id, from_version)
) STRICT;

CREATE TABLE run (
  run_id INTEGER PRIMARY KEY,
  action_id INTEGER NOT NULL,
  job_id INTEGER NOT NULL,
  version INTEGER NOT NULL,
  number INTEGER NOT NULL,
  trigger_kind TEXT NOT NULL,
  actor TEXT NOT NULL,
  why TEXT NOT NULL,
  revision INTEGER NOT NULL,
  set_config TEXT NOT NULL CHECK (json_valid(set_config)),
  urgency INTEGER NOT NULL CHECK (urgency BETWEEN 1 AND 5),
  exclusive INTEGER NOT NULL CHECK (exclusive IN (0, 1)),
  lease_ms INTEGER NOT NULL,
  retries INTEGER NOT NULL,
  restarts INTEGER NOT NULL,
  at_most_once INTEGER NOT NULL CHECK (at_most_once IN (0, 1)),
  start_by INTEGER,
  state TEXT NOT NULL CHECK (state IN
    ('queued', 'leased', 'running', 'succeeded', 'failed', 'cancelled')),
  reason TEXT,
  not_before INTEGER NOT NULL,
  hb_seq INTEGER NOT NULL,
  attempts INTEGER NOT NULL,
  starts INTEGER NOT NULL,
  failures INTEGER NOT NULL,
  losses INTEGER NOT NULL,
  token TEXT,
  fence INTEGER,
  worker_id INTEGER,
  incarnation INTEGER,
  lease_until INTEGER, -- for people only: no decision reads it
  cancel TEXT,
  final_token TEXT,
  queued_at INTEGER NOT NULL,
  started_at INTEGER,
  ended_at INTEGER,
  -- Of their own, so that a change of state alone touches no index.
  live INTEGER NOT NULL GENERATED ALWAYS AS (state IN ('queued', 'leased', 'running')) VIRTUAL,
  held INTEGER NOT NULL GENERATED ALWAYS AS (state IN ('leased', 'running')) VIRTUAL,
  UNIQUE (action_id, number),
  CHECK ((state IN ('leased', 'running')) = (token IS NOT NULL)),
  CHECK ((token IS NULL) = (worker_id IS NULL)),
  CHECK (attempts >= starts)
) STRICT;
-- What makes exclusiveness true: at most one held run of a job that wants it.
CREATE UNIQUE INDEX run_one_held ON run (job_id) WHERE exclusive AND held;
-- At most one live run of an action; the job, which its action has, comes first to find the live runs of a job.
CREATE UNIQUE INDEX run_one_live ON run (job_id, action_id) WHERE live;
CREATE INDEX run_newest ON run (job_id, run_id);

CREATE TABLE attempt (
  fence INTEGER PRIMARY KEY,
  run_id INTEGER NOT NULL,
  number INTEGER NOT NULL,
  token TEXT NOT NULL UNIQUE,
  worker_id INTEGER NOT NULL,
  incarnation INTEGER NOT NULL,
  epoch INTEGER NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('leased', 'started', 'ended')),
  outcome TEXT,
  outcome_reason TEXT,
  exit_code INTEGER,
  signal INTEGER,
  detail TEXT,
  leased_at INTEGER NOT NULL,
  started_at INTEGER,
  ended_at INTEGER,
  late_report TEXT,
  UNIQUE (run_id, number),
  CHECK ((state = 'ended') = (outcome IS NOT NULL))
) STRICT;

CREATE TABLE output (
  fence INTEGER PRIMARY KEY,
  bytes BLOB NOT NULL
) STRICT;

CREATE TABLE log_segment (
  fence INTEGER NOT NULL,
  at_byte INTEGER NOT NULL,
  bytes BLOB NOT NULL,
  PRIMARY KEY (fence, at_byte)
) STRICT;

CREATE TABLE worker (
  worker_id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  incarnation INTEGER NOT NULL,
  state_id TEXT NOT NULL,
  instance_id TEXT NOT NULL,
  host_groups TEXT NOT NULL CHECK (json_valid(host_groups)),
  labels TEXT NOT NULL CHECK (json_valid(labels)),
  capacity INTEGER NOT NULL,
  program TEXT NOT NULL,
  draining INTEGER NOT NULL CHECK (draining IN (0, 1)),
  registered_at INTEGER NOT NULL,
  seq INTEGER NOT NULL
) STRICT;

CREATE TABLE audit (
  audit_id INTEGER PRIMARY KEY AUTOINCREMENT,
  at INTEGER NOT NULL,
  actor TEXT NOT NULL,
  why TEXT NOT NULL,
  verb TEXT NOT NULL,
  subject TEXT NOT NULL,
  old_value TEXT CHECK (json_valid(old_value)),
  new_value TEXT CHECK (json_valid(new_value))
) STRICT;
CREATE INDEX audit_subject ON audit (subject, audit_id);

-- The cheapest insurance of all: an impossible change is an error, whoever asks for it.
CREATE TRIGGER run_guard BEFORE UPDATE ON run FOR EACH ROW BEGIN
  SELECT RAISE(ABORT, 'the run has ended and never changes')
  WHERE OLD.state NOT IN ('queued', 'leased', 'running');
  SELECT RAISE(ABORT, 'the run went backwards')
  WHERE NEW.attempts < OLD.attempts OR NEW.starts < OLD.starts OR NEW.failures < OLD.failures
     OR NEW.losses < OLD.losses OR NEW.hb_seq <= OLD.hb_seq
     OR NEW.action_id <> OLD.action_id OR NEW.version <> OLD.version
     OR NEW.number <> OLD.number OR NEW.revision <> OLD.revision;
END;

CREATE TRIGGER attempt_guard BEFORE UPDATE ON attempt FOR EACH ROW BEGIN
  SELECT RAISE(ABORT, 'the attempt is another one')
  WHERE (NEW.token, NEW.run_id, NEW.number, NEW.worker_id, NEW.incarnation, NEW.epoch, NEW.leased_at)
     <> (OLD.token, OLD.run_id, OLD.number, OLD.worker_id, OLD.incarnation, OLD.epoch, OLD.leased_at);
  -- Only a late report may follow, once.
  SELECT RAISE(ABORT, 'the attempt has ended and never changes')
  WHERE OLD.state = 'ended' AND (OLD.late_report IS NOT NULL OR NEW.late_report IS NULL
     OR (NEW.state, NEW.outcome, NEW.outcome_reason, NEW.exit_code, NEW.signal, NEW.detail,
         NEW.started_at, NEW.ended_at)
     IS NOT (OLD.state, OLD.outcome, OLD.outcome_reason, OLD.exit_code, OLD.signal,
         OLD.detail, OLD.started_at, OLD.ended_at));
END;

CREATE TRIGGER action_guard BEFORE UPDATE ON action FOR EACH ROW BEGIN
  SELECT RAISE(ABORT, 'the action is another one')
  WHERE NEW.job_id <> OLD.job_id OR NEW.version <> OLD.version;
  SELECT RAISE(ABORT, 'the action was decided and is never planned again')
  WHERE OLD.state <> 'planned' AND NEW.state = 'planned';
  SELECT RAISE(ABORT, 'the action went backwards')
  WHERE NEW.seq <= OLD.seq OR NEW.runs < OLD.runs;
END;

CREATE TRIGGER action_delete_guard BEFORE DELETE ON action FOR EACH ROW BEGIN
  SELECT RAISE(ABORT, 'the action was decided and is never deleted by an edit')
  WHERE OLD.state <> 'planned';
END;

CREATE TRIGGER job_guard BEFORE UPDATE OF seq, revision ON job FOR EACH ROW BEGIN
  SELECT RAISE(ABORT, 'the job went backwards')
  WHERE NEW.seq <= OLD.seq OR NEW.revision < OLD.revision;
END;

CREATE TRIGGER cursor_guard BEFORE UPDATE ON job_cursor FOR EACH ROW BEGIN
  SELECT RAISE(ABORT, 'the cursor went backwards')
  WHERE NEW.seq <= OLD.seq OR NEW.decided_to < OLD.decided_to;
END;

CREATE TRIGGER worker_guard BEFORE UPDATE ON worker FOR EACH ROW BEGIN
  SELECT RAISE(ABORT, 'the worker went backwards')
  WHERE NEW.seq <= OLD.seq OR NEW.incarnation < OLD.incarnation;
END;

CREATE TRIGGER leadership_guard BEFORE UPDATE ON leadership FOR EACH ROW BEGIN
  SELECT RAISE(ABORT, 'leadership went backwards')
  WHERE NEW.epoch < OLD.epoch OR NEW.renew_seq < OLD.renew_seq;
END;
