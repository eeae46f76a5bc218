-- KEYS: members (member → when it counts as gone, and whether it is leaving), leases (scope → "epoch holder", no holder when it is free),
-- started (scope → epoch under which its holder has started to work on it).
-- Time is the server's, in milliseconds.
local members, leases, started_key = KEYS[1], KEYS[2], KEYS[3]
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)

-- For as long as the epoch of a free lease is remembered: a clock that goes back by less gives no epoch twice.
local REMEMBERED = 24 * 60 * 60 * 1000

local alive, leaving, epochs, holders = {}, {}, {}, {}
local changed = false

local function write(scope)
  redis.call('HSET', leases, scope, string.format('%.0f', epochs[scope]) .. ' ' .. (holders[scope] or ''))
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

-- Reads the group, without those whose time is up.
local function load_group()
  local flat = redis.call('HGETALL', members)
  for i = 1, #flat, 2 do
    local gone_at, state = string.match(flat[i + 1], '^(%d+)(.*)$')
    if tonumber(gone_at) > now then
      alive[flat[i]] = true
      leaving[flat[i]] = state ~= ''
    else
      redis.call('HDEL', members, flat[i])
    end
  end
  flat = redis.call('HGETALL', leases)
  for i = 1, #flat, 2 do
    local scope = flat[i]
    local epoch, holder = string.match(flat[i + 1], '^(%d+) (.*)$')
    epochs[scope] = tonumber(epoch)
    if holder ~= '' then
      holders[scope] = holder
      if not alive[holder] then free(scope) end
    elseif now - epochs[scope] > REMEMBERED then
      epochs[scope] = nil
      redis.call('HDEL', leases, scope)
      redis.call('HDEL', started_key, scope)
    end
  end
end

-- For those who watch the group.
local function tell(member)
  -- Without the right to, they find out with their next heartbeat.
  if changed then redis.pcall('PUBLISH', members, member) end
end
