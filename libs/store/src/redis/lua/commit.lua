-- KEYS: meta, view (the scope's entries).
-- ARGV: fencing token, version ('' if the committer has not claimed the scope), expected offset, new offset, checkpoint,
-- number of fields to set, number of fields to remove, then the fields and values to set and the fields to remove.
local meta, view = KEYS[1], KEYS[2]
local fencing_token, version, expected, offset, checkpoint = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]

local held = redis.call('HMGET', meta, 'fencingToken', 'version', 'offset')
if (tonumber(held[1] or '0') or 0) > tonumber(fencing_token) then return { 'fencingToken', held[1] } end
if (held[3] or '0') ~= expected then return { 'offset', held[3] or '0' } end
if version ~= '' and held[2] ~= version then return { 'version', held[2] or '' } end

-- unpack() is limited to a few thousand values (LUAI_MAXCSTACK).
local CHUNK = 1000
local at = 8
local function chunks(command, key, count)
  local last = at + count - 1
  while at <= last do
    local to = math.min(at + CHUNK - 1, last)
    redis.call(command, key, unpack(ARGV, at, to))
    at = to + 1
  end
end

chunks('HSET', view, 2 * tonumber(ARGV[6]))
chunks('HDEL', view, tonumber(ARGV[7]))

-- A claim finds fewer entries than this if the hash was lost alone, for example by an eviction.
local next_version = new_version(fencing_token)
redis.call('HSET', meta, 'fencingToken', fencing_token, 'version', next_version, 'offset', offset, 'checkpoint', checkpoint,
  'incarnation', incarnation(), 'entries', redis.call('HLEN', view))
return { 'committed', next_version }
