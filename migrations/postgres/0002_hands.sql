-- Which sources have applied a definition, and whose hand changed it last; '{}': nobody knows.
ALTER TABLE job ADD COLUMN hands json NOT NULL DEFAULT '{}';
ALTER TABLE job_group ADD COLUMN hands json NOT NULL DEFAULT '{}';
ALTER TABLE job_revision ADD COLUMN source text NOT NULL DEFAULT '';
