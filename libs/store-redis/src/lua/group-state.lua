-- KEYS: members, leases, started, as in group.lua. What is over counts as gone; nothing is changed.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)

local alive, present, held = {}, {}, {}
local flat = redis.call('HGETALL', KEYS[1])
for i = 1, #flat, 2 do
  local gone_at, state = string.match(flat[i + 1], '^(%d+)(.*)$')
  if tonumber(gone_at) > now then
    alive[flat[i]] = true
    if state == '' then present[#present + 1] = flat[i] end
  end
end
local started = {}
flat = redis.call('HGETALL', KEYS[3])
for i = 1, #flat, 2 do started[flat[i]] = flat[i + 1] end
flat = redis.call('HGETALL', KEYS[2])
for i = 1, #flat, 2 do
  local epoch, holder = string.match(flat[i + 1], '^(%d+) (.*)$')
  if alive[holder] then
    held[#held + 1] = flat[i]
    held[#held + 1] = holder
    held[#held + 1] = epoch
    held[#held + 1] = started[flat[i]] == epoch and '1' or '0'
  end
end
return { present, held }
