-- ARGV: member, ttl in milliseconds, how many scopes to release; those; scopes to acquire.
load_group()
local member = ARGV[1]
redis.call('HSET', members, member, string.format('%.0f', now + tonumber(ARGV[2])))
alive[member] = true

local released = tonumber(ARGV[3])
for i = 4, 3 + released do
  if holders[ARGV[i]] == member then free(ARGV[i]) end
end
for i = 4 + released, #ARGV do
  local scope = ARGV[i]
  if not holders[scope] then
    epochs[scope] = math.max((epochs[scope] or 0) + 1, now)
    holders[scope] = member
    write(scope)
  end
end

local present, held = {}, {}
for name in pairs(alive) do present[#present + 1] = name end
for scope, holder in pairs(holders) do
  held[#held + 1] = scope
  held[#held + 1] = holder
  held[#held + 1] = string.format('%.0f', epochs[scope])
end
return { present, held }
