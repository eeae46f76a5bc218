-- KEYS: letters, order. ARGV: name.
redis.call('LREM', KEYS[2], 1, ARGV[1])
return redis.call('HDEL', KEYS[1], ARGV[1])
