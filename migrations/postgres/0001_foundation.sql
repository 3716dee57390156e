-- Instants are milliseconds UTC in both databases; `seq` counts the changes of a row.

CREATE FUNCTION now_ms() RETURNS bigint LANGUAGE sql VOLATILE AS
  $$ SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint $$;

-- One row. UNIQUE(epoch) on purpose: changing it is then a key update, which waits for FOR KEY SHARE.
CREATE TABLE leadership (
  id smallint PRIMARY KEY CHECK (id = 1),
  epoch bigint NOT NULL UNIQUE,
  holder text,
  address text NOT NULL DEFAULT '',
  renew_seq bigint NOT NULL DEFAULT 0,
  renewed_at bigint NOT NULL DEFAULT 0 -- for people only: standbys go by `renew_seq` and their own clocks
);
INSERT INTO leadership (id, epoch) VALUES (1, 0);

-- One row: made with the database, so that a restored copy can be told from the one it was taken from.
CREATE TABLE store_identity (
  id smallint PRIMARY KEY CHECK (id = 1),
  store_id text NOT NULL,
  created_at bigint NOT NULL
);
INSERT INTO store_identity VALUES (1, replace(gen_random_uuid()::text, '-', ''), now_ms());

-- One row: the highest ids in use, so that no id is given twice, not even of a row that is gone.
CREATE TABLE id_mark (
  id smallint PRIMARY KEY CHECK (id = 1),
  job bigint NOT NULL, job_group bigint NOT NULL, action bigint NOT NULL,
  run bigint NOT NULL, fence bigint NOT NULL, worker bigint NOT NULL
);
INSERT INTO id_mark VALUES (1, 0, 0, 0, 0, 0, 0);

CREATE TABLE job_group (
  group_id bigint PRIMARY KEY,
  path text NOT NULL UNIQUE,
  spec json NOT NULL, -- json, not jsonb: a document comes back as it was written
  seq bigint NOT NULL,
  created_at bigint NOT NULL
);

CREATE TABLE job (
  job_id bigint PRIMARY KEY,
  path text NOT NULL,
  revision bigint NOT NULL,
  seq bigint NOT NULL,
  open boolean NOT NULL,
  parked text,
  created_at bigint NOT NULL,
  deleted_at bigint
);
CREATE UNIQUE INDEX job_path_live ON job (path) WHERE deleted_at IS NULL;

CREATE TABLE job_cursor (
  job_id bigint PRIMARY KEY REFERENCES job,
  decided_to bigint NOT NULL,
  planned_to bigint NOT NULL,
  seq bigint NOT NULL
);

CREATE TABLE job_revision (
  job_id bigint NOT NULL REFERENCES job,
  revision bigint NOT NULL,
  since bigint NOT NULL,
  spec json NOT NULL,
  actor text NOT NULL,
  why text NOT NULL,
  created_at bigint NOT NULL,
  PRIMARY KEY (job_id, revision)
);

CREATE TABLE blob (
  digest text PRIMARY KEY,
  bytes bytea NOT NULL,
  created_at bigint NOT NULL
);

CREATE TABLE action (
  action_id bigint PRIMARY KEY,
  job_id bigint NOT NULL,
  version bigint NOT NULL,
  zone text NOT NULL,
  data_from bigint NOT NULL,
  data_to bigint NOT NULL,
  data_date text NOT NULL,
  state text NOT NULL CHECK (state IN
    ('planned', 'waiting', 'active', 'succeeded', 'failed', 'cancelled', 'skipped')),
  reason text,
  outcome text CHECK (outcome IN ('succeeded', 'failed', 'cancelled', 'skipped')),
  outcome_reason text,
  counted_run bigint,
  live_run bigint,
  runs bigint NOT NULL,
  revision bigint NOT NULL,
  seq bigint NOT NULL,
  actor text NOT NULL,
  created_at bigint NOT NULL,
  decided_at bigint,
  ended_at bigint,
  -- Of its own, so that a change of state alone touches no index.
  pending boolean NOT NULL GENERATED ALWAYS AS (
    state IN ('planned', 'waiting', 'active') OR live_run IS NOT NULL
  ) STORED,
  UNIQUE (job_id, version),
  CHECK ((state IN ('failed', 'skipped')) <= (reason IS NOT NULL)),
  CHECK (state <> 'active' OR live_run IS NOT NULL)
) WITH (fillfactor = 80); -- room beside a planned row for the one that is decided
CREATE INDEX action_pending ON action (job_id) WHERE pending;
CREATE INDEX action_version ON action (version, action_id);

CREATE TABLE binding (
  action_id bigint NOT NULL,
  upstream_job bigint NOT NULL,
  upstream_version bigint NOT NULL,
  on_end text NOT NULL CHECK (on_end IN ('success', 'finished', 'failed')),
  PRIMARY KEY (action_id, upstream_job, upstream_version)
);
CREATE INDEX binding_upstream ON binding (upstream_job, upstream_version);

CREATE TABLE slot_gap (
  job_id bigint NOT NULL,
  from_version bigint NOT NULL,
  to_version bigint NOT NULL,
  count bigint NOT NULL,
  reason text NOT NULL,
  created_at bigint NOT NULL,
  PRIMARY KEY (job_id, from_version)
);

CREATE TABLE run (
  run_id bigint PRIMARY KEY,
  action_id bigint NOT NULL,
  job_id bigint NOT NULL,
  version bigint NOT NULL,
  number bigint NOT NULL,
  trigger_kind text NOT NULL,
  actor text NOT NULL,
  why text NOT NULL,
  revision bigint NOT NULL,
  set_config json NOT NULL,
  urgency smallint NOT NULL CHECK (urgency BETWEEN 1 AND 5),
  exclusive boolean NOT NULL,
  lease_ms bigint NOT NULL,
  retries bigint NOT NULL,
  restarts bigint NOT NULL,
  at_most_once boolean NOT NULL,
  start_by bigint,
  state text NOT NULL CHECK (state IN
    ('queued', 'leased', 'running', 'succeeded', 'failed', 'cancelled')),
  reason text,
  not_before bigint NOT NULL,
  hb_seq bigint NOT NULL,
  attempts bigint NOT NULL,
  starts bigint NOT NULL,
  failures bigint NOT NULL,
  losses bigint NOT NULL,
  token text,
  fence bigint,
  worker_id bigint,
  incarnation bigint,
  lease_until bigint, -- for people only: no decision reads it
  cancel text,
  final_token text,
  queued_at bigint NOT NULL,
  started_at bigint,
  ended_at bigint,
  -- Of their own, so that a change of state alone touches no index.
  live boolean NOT NULL GENERATED ALWAYS AS (state IN ('queued', 'leased', 'running')) STORED,
  held boolean NOT NULL GENERATED ALWAYS AS (state IN ('leased', 'running')) STORED,
  UNIQUE (action_id, number),
  CHECK ((state IN ('leased', 'running')) = (token IS NOT NULL)),
  CHECK ((token IS NULL) = (worker_id IS NULL)),
  CHECK (attempts >= starts)
) WITH (fillfactor = 60); -- room beside a row for its next version: a start or a heartbeat then touches no index
-- What makes exclusiveness true: at most one held run of a job that wants it.
CREATE UNIQUE INDEX run_one_held ON run (job_id) WHERE exclusive AND held;
-- At most one live run of an action; the job, which its action has, comes first to find the live runs of a job.
CREATE UNIQUE INDEX run_one_live ON run (job_id, action_id) WHERE live;
CREATE INDEX run_newest ON run (job_id, run_id);

CREATE TABLE attempt (
  fence bigint PRIMARY KEY,
  run_id bigint NOT NULL,
  number bigint NOT NULL,
  token text NOT NULL UNIQUE,
  worker_id bigint NOT NULL,
  incarnation bigint NOT NULL,
  epoch bigint NOT NULL,
  state text NOT NULL CHECK (state IN ('leased', 'started', 'ended')),
  outcome text,
  outcome_reason text,
  exit_code bigint,
  signal bigint,
  detail text,
  leased_at bigint NOT NULL,
  started_at bigint,
  ended_at bigint,
  late_report text,
  UNIQUE (run_id, number),
  CHECK ((state = 'ended') = (outcome IS NOT NULL))
) WITH (fillfactor = 50); -- a start and an end then touch no index

CREATE TABLE output (
  fence bigint PRIMARY KEY,
  bytes bytea NOT NULL
);

CREATE TABLE log_segment (
  fence bigint NOT NULL,
  at_byte bigint NOT NULL,
  bytes bytea NOT NULL,
  PRIMARY KEY (fence, at_byte)
);

CREATE TABLE worker (
  worker_id bigint PRIMARY KEY,
  name text NOT NULL UNIQUE,
  incarnation bigint NOT NULL,
  state_id text NOT NULL,
  instance_id text NOT NULL,
  host_groups json NOT NULL,
  labels json NOT NULL,
  capacity bigint NOT NULL,
  program text NOT NULL,
  draining boolean NOT NULL,
  registered_at bigint NOT NULL,
  seq bigint NOT NULL
);

CREATE TABLE audit (
  audit_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  at bigint NOT NULL,
  actor text NOT NULL,
  why text NOT NULL,
  verb text NOT NULL,
  subject text NOT NULL,
  old_value json,
  new_value json
);
CREATE INDEX audit_subject ON audit (subject, audit_id);

-- The cheapest insurance of all: an impossible change is an error, whoever asks for it.
CREATE FUNCTION run_guard() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  IF OLD.state NOT IN ('queued', 'leased', 'running') THEN
    RAISE EXCEPTION 'run % has ended and never changes', OLD.run_id;
  END IF;
  IF NEW.attempts < OLD.attempts OR NEW.starts < OLD.starts OR NEW.failures < OLD.failures
     OR NEW.losses < OLD.losses OR NEW.hb_seq <= OLD.hb_seq
     OR NEW.action_id <> OLD.action_id OR NEW.version <> OLD.version
     OR NEW.number <> OLD.number OR NEW.revision <> OLD.revision THEN
    RAISE EXCEPTION 'run % went backwards', OLD.run_id;
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER run_guard BEFORE UPDATE ON run FOR EACH ROW EXECUTE FUNCTION run_guard();

CREATE FUNCTION attempt_guard() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  IF (NEW.token, NEW.run_id, NEW.number, NEW.worker_id, NEW.incarnation, NEW.epoch, NEW.leased_at)
     <> (OLD.token, OLD.run_id, OLD.number, OLD.worker_id, OLD.incarnation, OLD.epoch, OLD.leased_at)
  THEN
    RAISE EXCEPTION 'attempt % is another one', OLD.fence;
  END IF;
  -- Only a late report may follow, once.
  IF OLD.state = 'ended' AND (OLD.late_report IS NOT NULL OR NEW.late_report IS NULL
     OR (NEW.state, NEW.outcome, NEW.outcome_reason, NEW.exit_code, NEW.signal, NEW.detail,
         NEW.started_at, NEW.ended_at)
     IS DISTINCT FROM (OLD.state, OLD.outcome, OLD.outcome_reason, OLD.exit_code, OLD.signal,
         OLD.detail, OLD.started_at, OLD.ended_at)) THEN
    RAISE EXCEPTION 'attempt % has ended and never changes', OLD.fence;
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER attempt_guard BEFORE UPDATE ON attempt FOR EACH ROW EXECUTE FUNCTION attempt_guard();

CREATE FUNCTION action_guard() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  IF NEW.job_id <> OLD.job_id OR NEW.version <> OLD.version THEN
    RAISE EXCEPTION 'action % is another one', OLD.action_id;
  END IF;
  IF OLD.state <> 'planned' AND NEW.state = 'planned' THEN
    RAISE EXCEPTION 'action % was decided and is never planned again', OLD.action_id;
  END IF;
  IF NEW.seq <= OLD.seq OR NEW.runs < OLD.runs THEN
    RAISE EXCEPTION 'action % went backwards', OLD.action_id;
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER action_guard BEFORE UPDATE ON action FOR EACH ROW EXECUTE FUNCTION action_guard();

CREATE FUNCTION action_delete_guard() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  IF OLD.state <> 'planned' THEN
    RAISE EXCEPTION 'action % was decided and is never deleted by an edit', OLD.action_id;
  END IF;
  RETURN OLD;
END $$;
CREATE TRIGGER action_delete_guard BEFORE DELETE ON action FOR EACH ROW EXECUTE FUNCTION action_delete_guard();

CREATE FUNCTION job_guard() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  IF NEW.seq <= OLD.seq OR NEW.revision < OLD.revision THEN
    RAISE EXCEPTION 'job % went backwards', OLD.job_id;
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER job_guard BEFORE UPDATE OF seq, revision ON job FOR EACH ROW EXECUTE FUNCTION job_guard();

CREATE FUNCTION cursor_guard() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  IF NEW.seq <= OLD.seq OR NEW.decided_to < OLD.decided_to THEN
    RAISE EXCEPTION 'the cursor of job % went backwards', OLD.job_id;
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER cursor_guard BEFORE UPDATE ON job_cursor FOR EACH ROW EXECUTE FUNCTION cursor_guard();

CREATE FUNCTION worker_guard() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  IF NEW.seq <= OLD.seq OR NEW.incarnation < OLD.incarnation THEN
    RAISE EXCEPTION 'worker % went backwards', OLD.worker_id;
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER worker_guard BEFORE UPDATE ON worker FOR EACH ROW EXECUTE FUNCTION worker_guard();

CREATE FUNCTION leadership_guard() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  IF NEW.epoch < OLD.epoch OR NEW.renew_seq < OLD.renew_seq THEN
    RAISE EXCEPTION 'leadership went backwards';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER leadership_guard BEFORE UPDATE ON leadership FOR EACH ROW EXECUTE FUNCTION leadership_guard();
