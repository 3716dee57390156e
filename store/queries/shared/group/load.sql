SELECT
  g.group_id, g.path, CAST(g.spec AS text), g.seq, CAST(g.hands AS text), g.created_at
FROM job_group g
ORDER BY g.group_id
