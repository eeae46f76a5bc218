-- KEYS: as in group.lua. Leaves out expired members and their leases; writes nothing.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)

local alive, active, held, cut_off = {}, {}, {}, {}
local states, started, ready = all_of(KEYS[2]), all_of(KEYS[4]), all_of(KEYS[7])
for member, expires_at in pairs(all_of(KEYS[1])) do
  local state = string.match(states[member] or '', '^(%S*) %S*$')
  if state and alive_until(expires_at, now) then
    alive[member] = true
    if state ~= 'leaving' then active[#active + 1] = member end
    if state == 'disconnected' then cut_off[#cut_off + 1] = member end
  end
end
for scope, lease in pairs(all_of(KEYS[3])) do
  local fencing_token, holder = string.match(lease, '^(%d+) (.*)$')
  if holder and alive[holder] then
    held[#held + 1] = scope
    held[#held + 1] = holder
    held[#held + 1] = fencing_token
    held[#held + 1] = started[scope] == fencing_token and '1' or '0'
    local of, by = string.match(ready[scope] or '', '^(%d+) (.*)$')
    held[#held + 1] = of == fencing_token and by or ''
  end
end
return { active, held, cut_off }
