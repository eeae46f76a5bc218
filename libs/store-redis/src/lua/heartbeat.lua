-- KEYS: as in group.lua. ARGV: member, TTL in milliseconds, its state (leaving, disconnected or empty), number of scopes to release, number of
-- started scopes, then the scopes to release, the started scopes and the scopes to acquire.
load_group()
local member = ARGV[1]
local state = ARGV[3]
local is_leaving = state == 'leaving'
redis.call('HSET', members, member, string.format('%.0f', now + tonumber(ARGV[2])) .. (state == '' and '' or ' ' .. state))
if not alive[member] or leaving[member] ~= is_leaving then changed = true end
alive[member] = true
leaving[member] = is_leaving
disconnected[member] = state == 'disconnected'

local released = tonumber(ARGV[4])
local first_started = 6 + released
local first_acquired = first_started + tonumber(ARGV[5])
for i = 6, first_started - 1 do
  if holders[ARGV[i]] == member then free(ARGV[i]) end
end
for i = first_started, first_acquired - 1 do
  if holders[ARGV[i]] == member then
    redis.call('HSET', started_key, ARGV[i], string.format('%.0f', fencing_tokens[ARGV[i]]))
    changed = true
  end
end
for i = first_acquired, #ARGV do
  local scope = ARGV[i]
  if not holders[scope] then
    fencing_tokens[scope] = math.max((fencing_tokens[scope] or 0) + 1, now)
    holders[scope] = member
    changed = true
    write(scope)
  end
end

local active, held, cut_off, next_expiry, next_member = {}, {}, {}, -1, ''
for name in pairs(alive) do
  if not leaving[name] then active[#active + 1] = name end
  if disconnected[name] then cut_off[#cut_off + 1] = name end
  if name ~= member then
    local remaining = expiry[name] - now
    if next_expiry < 0 or remaining < next_expiry then next_expiry, next_member = remaining, name end
  end
end
local started = all_of(started_key)
for scope, holder in pairs(holders) do
  local fencing_token = string.format('%.0f', fencing_tokens[scope])
  held[#held + 1] = scope
  held[#held + 1] = holder
  held[#held + 1] = fencing_token
  held[#held + 1] = started[scope] == fencing_token and '1' or '0'
end
notify(member)
return { active, held, cut_off, next_expiry, next_member }
