INSERT INTO blob (digest, bytes, created_at) VALUES ($1, $2, now_ms())
ON CONFLICT (digest) DO NOTHING
