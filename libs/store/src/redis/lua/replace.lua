-- KEYS: value. ARGV: expected value, empty for none; next value. Returns 1 if the value was replaced.
if (redis.call('GET', KEYS[1]) or '') ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[2])
return 1
