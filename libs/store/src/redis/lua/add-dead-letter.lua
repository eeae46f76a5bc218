-- KEYS: letters (hash: name → dead letter), order (list of names, oldest first), bytes (size of all dead letters).
-- ARGV: name, dead letter, maximum number kept, maximum bytes kept. The newest dead letter is always kept.
-- Only commands that docs/guides/redis.md grants, hence HGET for lengths.
local letters, order, bytes = KEYS[1], KEYS[2], KEYS[3]
local function size(name)
  return #(redis.call('HGET', letters, name) or '')
end

local total = tonumber(redis.call('GET', bytes) or '-1')
if total < 0 then
  total = 0
  for _, name in ipairs(redis.call('LRANGE', order, 0, -1)) do total = total + size(name) end
end
if redis.call('HSETNX', letters, ARGV[1], ARGV[2]) == 1 then
  redis.call('RPUSH', order, ARGV[1])
  total = total + #ARGV[2]
end
local count = redis.call('LLEN', order)
while count > 1 and (count > tonumber(ARGV[3]) or total > tonumber(ARGV[4])) do
  local oldest = redis.call('LPOP', order)
  total = total - size(oldest)
  redis.call('HDEL', letters, oldest)
  count = count - 1
end
redis.call('SET', bytes, total)
