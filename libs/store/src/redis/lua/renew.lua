-- KEYS: as in group.lua. ARGV: member, TTL in milliseconds, then scope and fencing token of each lease to renew.
-- Renews the member if it is alive and holds all of these leases, and returns 1. Otherwise changes nothing and returns 0.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
if not alive_until(redis.call('HGET', KEYS[1], ARGV[1]), now) then return 0 end
for i = 3, #ARGV, 2 do
  if redis.call('HGET', KEYS[3], ARGV[i]) ~= ARGV[i + 1] .. ' ' .. ARGV[1] then return 0 end
end
redis.call('HSET', KEYS[1], ARGV[1], string.format('%.0f', now + tonumber(ARGV[2])))
return 1
