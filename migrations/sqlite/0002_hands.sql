-- Which sources have applied a definition, and whose hand changed it last; '{}': nobody knows.
ALTER TABLE job ADD COLUMN hands TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(hands));
ALTER TABLE job_group ADD COLUMN hands TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(hands));
ALTER TABLE job_revision ADD COLUMN source TEXT NOT NULL DEFAULT '';
