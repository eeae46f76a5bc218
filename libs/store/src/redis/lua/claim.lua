-- KEYS: meta, view (the scope's entries). ARGV: fencing token, HSCAN count.
-- A claim sets a new version, so a commit that was sent before the claim and arrives after it fails.
local meta, view, fencing_token = KEYS[1], KEYS[2], ARGV[1]
local held = redis.call('HMGET', meta, 'fencingToken', 'checkpoint', 'incarnation', 'offset', 'entries')
if (tonumber(held[1] or '0') or 0) > tonumber(fencing_token) then return { 'fencingToken', held[1] } end
local now = incarnation()
local version = new_version(fencing_token)
redis.call('HSET', meta, 'fencingToken', fencing_token, 'version', version)
local lost = redis.call('HLEN', view) < (tonumber(held[5] or '0') or 0)
-- A claim keeps the incarnation of the last commit, so that a repeated claim after a failover is not reported as intact.
local answer = { 'claimed', version, now, held[2] or '', held[3] == now and not lost and '1' or '0', held[4] or '0' }
-- The caller reads a larger scope in chunks after the claim, because a script blocks all other clients.
local fields = redis.call('HSCAN', view, '0', 'COUNT', ARGV[2])
if fields[1] == '0' then answer[7] = fields[2] end
return answer
