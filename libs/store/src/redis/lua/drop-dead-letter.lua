-- KEYS: letters, order, bytes. ARGV: name.
local total = redis.call('GET', KEYS[3])
if total then redis.call('SET', KEYS[3], total - #(redis.call('HGET', KEYS[1], ARGV[1]) or '')) end
redis.call('LREM', KEYS[2], 1, ARGV[1])
return redis.call('HDEL', KEYS[1], ARGV[1])
