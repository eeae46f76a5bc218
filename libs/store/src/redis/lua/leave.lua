-- KEYS: as in group.lua. ARGV: member, name of this change.
load_expiries()
load_group()
remove(ARGV[1])
for scope, holder in pairs(holders) do
  if holder == ARGV[1] then free(scope) end
end
finish(ARGV[1], ARGV[2])
