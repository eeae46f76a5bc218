-- ARGV: member, ttl in milliseconds, whether it is leaving (1), how many scopes to release, how many it has started with; those; scopes to
-- acquire.
load_group()
local member = ARGV[1]
local leaves = ARGV[3] == '1'
redis.call('HSET', members, member, string.format('%.0f', now + tonumber(ARGV[2])) .. (leaves and ' leaving' or ''))
if not alive[member] or leaving[member] ~= leaves then changed = true end
alive[member] = true
leaving[member] = leaves

local released = tonumber(ARGV[4])
local first_started = 6 + released
local first_wanted = first_started + tonumber(ARGV[5])
for i = 6, first_started - 1 do
  if holders[ARGV[i]] == member then free(ARGV[i]) end
end
for i = first_started, first_wanted - 1 do
  if holders[ARGV[i]] == member then
    redis.call('HSET', started_key, ARGV[i], string.format('%.0f', epochs[ARGV[i]]))
    changed = true
  end
end
for i = first_wanted, #ARGV do
  local scope = ARGV[i]
  if not holders[scope] then
    epochs[scope] = math.max((epochs[scope] or 0) + 1, now)
    holders[scope] = member
    changed = true
    write(scope)
  end
end

local present, held = {}, {}
for name in pairs(alive) do
  if not leaving[name] then present[#present + 1] = name end
end
local started = all_of(started_key)
for scope, holder in pairs(holders) do
  local epoch = string.format('%.0f', epochs[scope])
  held[#held + 1] = scope
  held[#held + 1] = holder
  held[#held + 1] = epoch
  held[#held + 1] = started[scope] == epoch and '1' or '0'
end
tell(member)
return { present, held }
