INSERT INTO blob (digest, bytes, created_at) VALUES ($1, $2, CAST(unixepoch('subsec') * 1000 AS INTEGER))
ON CONFLICT (digest) DO NOTHING
