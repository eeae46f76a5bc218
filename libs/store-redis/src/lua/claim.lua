-- KEYS: meta, view. ARGV: epoch, about how many fields of the view are handed over at once.
-- The version changes here too: a commit that was sent before the claim and arrives after it is refused.
local meta, view, epoch = KEYS[1], KEYS[2], ARGV[1]
local held = redis.call('HMGET', meta, 'epoch', 'checkpoint', 'incarnation')
if tonumber(held[1] or '0') > tonumber(epoch) then return { 'epoch', held[1] } end
local now = incarnation()
local version = new_version(epoch)
redis.call('HSET', meta, 'epoch', epoch, 'version', version)
-- The incarnation is that of the last commit and stays: a second claim is not told that all is well.
local answer = { 'claimed', version, now, held[2] or '', held[3] == now and '1' or '0' }
-- What is large is read in pieces afterwards: Redis serves nobody else meanwhile.
local fields = redis.call('HSCAN', view, '0', 'COUNT', ARGV[2])
if fields[1] == '0' then answer[6] = fields[2] end
return answer
