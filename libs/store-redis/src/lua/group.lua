-- KEYS: members (hash: member → expiry time, followed by " leaving" while it leaves, and by " disconnected" while it has no
-- connection to the bus),
-- leases (hash: scope → "<fencing token> <holder>", with an empty holder while the lease is free),
-- started (hash: scope → fencing token under which the holder has started work).
-- Times are the server's, in milliseconds.
local members, leases, started_key = KEYS[1], KEYS[2], KEYS[3]
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)

-- Retention of a free lease's fencing token: a clock that steps back by less than this never issues a token twice.
local TOKEN_RETENTION = 24 * 60 * 60 * 1000

local alive, leaving, disconnected, expiry, fencing_tokens, holders = {}, {}, {}, {}, {}, {}
local changed = false

local function write(scope)
  redis.call('HSET', leases, scope, string.format('%.0f', fencing_tokens[scope]) .. ' ' .. (holders[scope] or ''))
end

local function free(scope)
  changed = true
  holders[scope] = nil
  write(scope)
end

local function all_of(key)
  local flat, entries = redis.call('HGETALL', key), {}
  for i = 1, #flat, 2 do entries[flat[i]] = flat[i + 1] end
  return entries
end

-- Loads the group, removing expired members and freeing their leases.
local function load_group()
  local flat = redis.call('HGETALL', members)
  for i = 1, #flat, 2 do
    local expires_at, state = string.match(flat[i + 1], '^(%d+)(.*)$')
    if tonumber(expires_at) > now then
      alive[flat[i]] = true
      leaving[flat[i]] = state == ' leaving'
      expiry[flat[i]] = tonumber(expires_at)
      disconnected[flat[i]] = state == ' disconnected'
    else
      redis.call('HDEL', members, flat[i])
    end
  end
  flat = redis.call('HGETALL', leases)
  for i = 1, #flat, 2 do
    local scope = flat[i]
    local fencing_token, holder = string.match(flat[i + 1], '^(%d+) (.*)$')
    fencing_tokens[scope] = tonumber(fencing_token)
    if holder ~= '' then
      holders[scope] = holder
      if not alive[holder] then free(scope) end
    elseif now - fencing_tokens[scope] > TOKEN_RETENTION then
      fencing_tokens[scope] = nil
      redis.call('HDEL', leases, scope)
      redis.call('HDEL', started_key, scope)
    end
  end
end

-- Notifies watchers of the group.
local function notify(member)
  -- pcall: without permission to publish, members see the change with their next heartbeat.
  if changed then redis.pcall('PUBLISH', members, member) end
end
