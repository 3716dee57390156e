-- Keeps what holders said after they had lost their lease: once, and only of attempts that have ended.
UPDATE attempt SET late_report = x.late_report
FROM unnest($1::bigint[], $2::text[]) AS x (fence, late_report)
WHERE attempt.fence = x.fence AND attempt.state = 'ended' AND attempt.late_report IS NULL
