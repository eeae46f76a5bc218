-- KEYS: meta. ARGV: epoch.
-- The version changes here too: a commit that was sent before the claim and arrives after it is refused.
local meta, epoch = KEYS[1], ARGV[1]
local held = redis.call('HMGET', meta, 'epoch', 'checkpoint', 'incarnation')
if tonumber(held[1] or '0') > tonumber(epoch) then return { 'epoch', held[1] } end
local now = incarnation()
local version = new_version(epoch)
redis.call('HSET', meta, 'epoch', epoch, 'version', version)
-- The incarnation is that of the last commit and stays: a second claim is not told that all is well.
return { 'claimed', version, now, held[2] or '', held[3] == now and '1' or '0' }
