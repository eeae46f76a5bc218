-- KEYS: meta, view.
-- ARGV: epoch, version ('' if the committer has not claimed the scope), expected offset, new offset, checkpoint,
-- how many fields to set, to remove; then those: field and value, field.
local meta, view = KEYS[1], KEYS[2]
local epoch, version, expected, offset, checkpoint = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]

local held = redis.call('HMGET', meta, 'epoch', 'version', 'offset')
if tonumber(held[1] or '0') > tonumber(epoch) then return { 'epoch', held[1] } end
if (held[3] or '0') ~= expected then return { 'offset', held[3] or '0' } end
if version ~= '' and held[2] ~= version then return { 'version', held[2] or '' } end

-- Lua hands over some thousand arguments at once at most.
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

local following = new_version(epoch)
redis.call('HSET', meta, 'epoch', epoch, 'version', following, 'offset', offset, 'checkpoint', checkpoint,
  'incarnation', incarnation())
return { 'committed', following }
