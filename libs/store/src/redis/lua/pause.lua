-- KEYS: clusters. ARGV: identity, field of the pause, reason. Returns 1 if the cluster is listed.
if not redis.call('HGET', KEYS[1], ARGV[1]) then return 0 end
redis.call('HSET', KEYS[1], ARGV[2], ARGV[3])
return 1
