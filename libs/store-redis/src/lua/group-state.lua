-- KEYS: members, leases, started, as in group.lua. Leaves out expired members and their leases; writes nothing.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)

local alive, active, held, cut_off = {}, {}, {}, {}
local flat = redis.call('HGETALL', KEYS[1])
for i = 1, #flat, 2 do
  local expires_at, state = string.match(flat[i + 1], '^(%d+)(.*)$')
  if tonumber(expires_at) > now then
    alive[flat[i]] = true
    if state ~= ' leaving' then active[#active + 1] = flat[i] end
    if state == ' disconnected' then cut_off[#cut_off + 1] = flat[i] end
  end
end
local started = {}
flat = redis.call('HGETALL', KEYS[3])
for i = 1, #flat, 2 do started[flat[i]] = flat[i + 1] end
flat = redis.call('HGETALL', KEYS[2])
for i = 1, #flat, 2 do
  local fencing_token, holder = string.match(flat[i + 1], '^(%d+) (.*)$')
  if alive[holder] then
    held[#held + 1] = flat[i]
    held[#held + 1] = holder
    held[#held + 1] = fencing_token
    held[#held + 1] = started[flat[i]] == fencing_token and '1' or '0'
  end
end
return { active, held, cut_off }
