-- KEYS: members, leases, as in group.lua. What is over counts as gone; nothing is changed.
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
flat = redis.call('HGETALL', KEYS[2])
for i = 1, #flat, 2 do
  local epoch, holder = string.match(flat[i + 1], '^(%d+) (.*)$')
  if alive[holder] then
    held[#held + 1] = flat[i]
    held[#held + 1] = holder
    held[#held + 1] = epoch
  end
end
return { present, held }
