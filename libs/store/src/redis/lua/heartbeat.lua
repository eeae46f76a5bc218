-- KEYS: as in group.lua. ARGV: member, TTL in milliseconds, its state, digest of the scopes it can serve, these scopes or empty,
-- the version that it knows, name of this change, numbers of scopes to release, of started scopes and of scopes for which it is
-- prepared, then these scopes in this order and the scopes to acquire.
-- Returns the version of the group, the time until another member expires and that member, followed by the group and the number of
-- unreadable entries that were removed from it, unless the member knows this version. Returns nothing, and changes nothing, if it needs the scopes of the digest.
local member, own_state, own_digest, own_scopes, known = ARGV[1], ARGV[3], ARGV[4], ARGV[5], ARGV[6]
local described = own_state .. ' ' .. own_digest
local all_alive = load_expiries()
local version = redis.call('GET', version_key)
-- Nothing has changed and nothing is to change: the group need not be loaded.
local unchanged = all_alive and expiry[member] and version == known and #ARGV == 10
  and redis.call('HGET', states, member) == described

if not unchanged then
  if own_digest ~= '' and own_scopes == '' and not redis.call('HGET', served, own_digest) then return {} end
  load_group()
end

redis.call('HSET', expiries, member, string.format('%.0f', now + tonumber(ARGV[2])))
local next_expiry, next_member = -1, ''
for name, expires_at in pairs(expiry) do
  if name ~= member and (next_expiry < 0 or expires_at - now < next_expiry) then
    next_expiry, next_member = expires_at - now, name
  end
end
if unchanged then return { version, next_expiry, next_member } end

local joins = not expiry[member]
if joins or state[member] ~= own_state or digest[member] ~= own_digest then
  changed = true
  if joins or (state[member] == 'leaving') ~= (own_state == 'leaving') then notable = true end
  if joins or digest[member] ~= own_digest then regrouped = true end
  redis.call('HSET', states, member, described)
end
if own_scopes ~= '' then redis.call('HSET', served, own_digest, own_scopes) end
expiry[member], state[member], digest[member] = now, own_state, own_digest

local first_started = 11 + tonumber(ARGV[8])
local first_prepared = first_started + tonumber(ARGV[9])
local first_acquired = first_prepared + tonumber(ARGV[10])
for i = 11, first_started - 1 do
  if holders[ARGV[i]] == member then free(ARGV[i]) end
end
for i = first_started, first_prepared - 1 do
  if holders[ARGV[i]] == member then
    redis.call('HSET', starts, ARGV[i], string.format('%.0f', fencing_tokens[ARGV[i]]))
    changed, notable = true, true
  end
end
for i = first_prepared, first_acquired - 1 do
  local scope = ARGV[i]
  if holders[scope] and holders[scope] ~= member then
    local entry = string.format('%.0f', fencing_tokens[scope]) .. ' ' .. member
    if redis.call('HGET', prepared, scope) ~= entry then
      redis.call('HSET', prepared, scope, entry)
      changed, notable = true, true
    end
  end
end
for i = first_acquired, #ARGV do
  local scope = ARGV[i]
  if not holders[scope] then
    fencing_tokens[scope] = math.max((fencing_tokens[scope] or 0) + 1, now)
    holders[scope] = member
    changed, notable = true, true
    write(scope)
  end
end
if not version then changed = true end
finish(member, ARGV[7])

version = redis.call('GET', version_key)
if version == known then return { version, next_expiry, next_member } end
local active, held, stalled, scopes, listed = {}, {}, {}, {}, {}
for name in pairs(expiry) do
  if state[name] ~= 'leaving' then
    active[#active + 1] = name
    active[#active + 1] = digest[name]
    -- Members with the same clusters share one list.
    if digest[name] ~= '' and not listed[digest[name]] then
      listed[digest[name]] = true
      scopes[#scopes + 1] = digest[name]
      scopes[#scopes + 1] = redis.call('HGET', served, digest[name]) or ''
    end
  end
  if state[name] ~= 'leaving' and state[name] ~= '' then
    stalled[#stalled + 1] = name
    stalled[#stalled + 1] = state[name]
  end
end
local started, ready = all_of(starts), all_of(prepared)
for scope, holder in pairs(holders) do
  local fencing_token = string.format('%.0f', fencing_tokens[scope])
  held[#held + 1] = scope
  held[#held + 1] = holder
  held[#held + 1] = fencing_token
  held[#held + 1] = started[scope] == fencing_token and '1' or '0'
  local of, by = string.match(ready[scope] or '', '^(%d+) (.*)$')
  held[#held + 1] = of == fencing_token and by or ''
end
return { version, next_expiry, next_member, active, held, stalled, scopes, unreadable }
