-- Keeps what holders said after they had lost their lease: once, and only of attempts that have ended.
WITH x AS (SELECT value->>0 AS fence, value->>1 AS late_report FROM json_each($1))
UPDATE attempt SET late_report = x.late_report
FROM x
WHERE attempt.fence = x.fence AND attempt.state = 'ended' AND attempt.late_report IS NULL
