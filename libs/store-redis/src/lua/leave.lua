-- KEYS: as in group.lua. ARGV: member.
load_group()
redis.call('HDEL', members, ARGV[1])
for scope, holder in pairs(holders) do
  if holder == ARGV[1] then free(scope) end
end
changed = true
notify(ARGV[1])
