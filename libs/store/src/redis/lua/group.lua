-- KEYS: expiries (hash: member → time), states (hash: member → "<state> <digest of the scopes it can serve>", where the state is
-- leaving, stalled=<what it makes no progress on> or empty, and the digest is empty for a member that can serve all scopes),
-- holders (hash: scope → "<fencing token> <holder>", with an empty holder while the lease is free),
-- starts (hash: scope → fencing token under which the holder has started work), served (hash: digest → scopes), version,
-- prepared (hash: scope → "<fencing token of the holder> <member that can start at once>").
-- Times are the server's, in milliseconds.
local expiries, states, leases, starts, served, version_key = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6]
local prepared = KEYS[7]
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)

-- Retention of a free lease's fencing token: a clock that steps back by less than this never issues a token twice.
local TOKEN_RETENTION = 24 * 60 * 60 * 1000

local state, digest, expiry, fencing_tokens, holders = {}, {}, {}, {}, {}
-- Whether the group has a new version, whether members must be notified, and whether one came, left or changed its scopes.
local changed, notable, regrouped = false, false, false
-- Number of removed entries that are not of this form.
local unreadable = 0

-- Reads when each member that is alive expires. Returns whether all are alive.
local function load_expiries()
  local all_alive = true
  for member, text in pairs(all_of(expiries)) do
    expiry[member] = alive_until(text, now)
    if not expiry[member] then all_alive = false end
  end
  return all_alive
end

local function write(scope)
  redis.call('HSET', leases, scope, string.format('%.0f', fencing_tokens[scope]) .. ' ' .. (holders[scope] or ''))
end

local function free(scope)
  changed, notable = true, true
  holders[scope] = nil
  write(scope)
  redis.call('HDEL', prepared, scope)
end

local function remove(member)
  changed, notable, regrouped = true, true, true
  expiry[member], state[member], digest[member] = nil, nil, nil
  redis.call('HDEL', expiries, member)
  redis.call('HDEL', states, member)
end

-- Loads the group after `load_expiries`, removing expired members and freeing their leases. What is unreadable counts as expired
-- or free, so that it does not stop the members.
local function load_group()
  for member, described in pairs(all_of(states)) do
    state[member], digest[member] = string.match(described, '^(%S*) (%S*)$')
    if not state[member] then unreadable = unreadable + 1 end
  end
  for member, text in pairs(all_of(expiries)) do
    if not tonumber(text) then unreadable = unreadable + 1 end
    if not expiry[member] or not state[member] then remove(member) end
  end
  for scope, lease in pairs(all_of(leases)) do
    local fencing_token, holder = string.match(lease, '^(%d+) (.*)$')
    fencing_tokens[scope] = tonumber(fencing_token)
    if not fencing_token then
      changed, notable, unreadable = true, true, unreadable + 1
      redis.call('HDEL', leases, scope)
      redis.call('HDEL', starts, scope)
      redis.call('HDEL', prepared, scope)
    elseif holder ~= '' then
      holders[scope] = holder
      if not expiry[holder] then free(scope) end
    elseif now - fencing_tokens[scope] > TOKEN_RETENTION then
      fencing_tokens[scope] = nil
      redis.call('HDEL', leases, scope)
      redis.call('HDEL', starts, scope)
    end
  end
end

-- Removes the scopes that no member can serve any more.
local function remove_unused_scopes()
  local used = {}
  for _, one in pairs(digest) do used[one] = true end
  for one in pairs(all_of(served)) do
    if not used[one] then redis.call('HDEL', served, one) end
  end
end

-- Gives a changed group its next version, which no other change ever has, and notifies its watchers. `change` is unique in the
-- fleet. A count would repeat its values after a restore of the store.
local function finish(member, change)
  if regrouped then remove_unused_scopes() end
  if changed then redis.call('SET', version_key, string.format('%.0f', now) .. ' ' .. change) end
  -- pcall: without permission to publish, members see the change with their next heartbeat.
  if notable then redis.pcall('PUBLISH', expiries, member) end
end
