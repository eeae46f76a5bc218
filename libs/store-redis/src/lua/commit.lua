-- KEYS: meta, view, outbox.
-- ARGV: epoch, version ('' if the committer has not claimed the scope), expected position, new position, checkpoint,
-- how many fields to set, to remove, records to publish, published ids; then those: field and value, field, id and
-- record, id.
local meta, view, outbox = KEYS[1], KEYS[2], KEYS[3]
local epoch, version, expected, position, checkpoint = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]

local held = redis.call('HMGET', meta, 'epoch', 'version', 'position', 'sequence')
if tonumber(held[1] or '0') > tonumber(epoch) then return { 'epoch', held[1] } end
if (held[3] or '0') ~= expected then return { 'position', held[3] or '0' } end
if version ~= '' and held[2] ~= version then return { 'version', held[2] or '' } end

-- Lua hands over some thousand arguments at once at most.
local CHUNK = 1000
local at = 10
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

local sequence = tonumber(held[4] or '0')
for _ = 1, tonumber(ARGV[8]) do
  local id, record = ARGV[at], ARGV[at + 1]
  at = at + 2
  -- One that is there already keeps its place.
  local former = redis.call('HGET', outbox, id)
  local place = former and string.match(former, '^%d+')
  if not place then
    sequence = sequence + 1
    place = string.format('%.0f', sequence)
  end
  redis.call('HSET', outbox, id, place .. ' ' .. record)
end
chunks('HDEL', outbox, tonumber(ARGV[9]))

local following = new_version(epoch)
redis.call('HSET', meta, 'epoch', epoch, 'version', following, 'position', position, 'checkpoint', checkpoint,
  'sequence', string.format('%.0f', sequence), 'incarnation', incarnation())
return { 'committed', following }
