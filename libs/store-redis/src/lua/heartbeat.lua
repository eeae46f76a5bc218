-- ARGV: member, ttl in milliseconds, whether it is leaving (1), how many scopes to release; those; scopes to acquire.
load_group()
local member = ARGV[1]
local leaves = ARGV[3] == '1'
redis.call('HSET', members, member, string.format('%.0f', now + tonumber(ARGV[2])) .. (leaves and ' leaving' or ''))
if not alive[member] or leaving[member] ~= leaves then changed = true end
alive[member] = true
leaving[member] = leaves

local released = tonumber(ARGV[4])
for i = 5, 4 + released do
  if holders[ARGV[i]] == member then free(ARGV[i]) end
end
for i = 5 + released, #ARGV do
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
for scope, holder in pairs(holders) do
  held[#held + 1] = scope
  held[#held + 1] = holder
  held[#held + 1] = string.format('%.0f', epochs[scope])
end
tell(member)
return { present, held }
