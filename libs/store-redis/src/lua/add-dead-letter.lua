-- KEYS: letters (hash: name → dead letter), order (list of names, oldest first). ARGV: name, dead letter, maximum number kept.
local letters, order = KEYS[1], KEYS[2]
if redis.call('HSETNX', letters, ARGV[1], ARGV[2]) == 0 then return end
redis.call('RPUSH', order, ARGV[1])
while redis.call('LLEN', order) > tonumber(ARGV[3]) do
  redis.call('HDEL', letters, redis.call('LPOP', order))
end
