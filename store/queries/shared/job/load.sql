-- All jobs; which of them follows.
SELECT
  j.job_id, j.path, j.revision, j.seq, j.open, j.parked, CAST(j.hands AS text), j.created_at, j.deleted_at
FROM job j
WHERE TRUE
