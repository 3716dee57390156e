-- Actions that have not ended, and ended ones with a live run; the scope follows.
SELECT
  a.action_id, a.job_id, a.version, a.zone, a.data_from, a.data_to, a.data_date, a.state,
  a.reason, a.outcome, a.outcome_reason, a.counted_run, a.live_run, a.runs, a.revision, a.seq,
  a.actor, a.created_at, a.decided_at, a.ended_at
FROM action a
WHERE a.pending
