-- KEYS: meta, view (the scope's entries). ARGV: version of the claim, then names of unreadable entries.
-- Without a checkpoint, the owner rebuilds the scope with a resync. Returns 0 if another process has claimed the scope since.
local meta, view = KEYS[1], KEYS[2]
if redis.call('HGET', meta, 'version') ~= ARGV[1] then return 0 end
redis.call('HDEL', meta, 'checkpoint', 'offset', 'incarnation', 'entries')
for i = 2, #ARGV do redis.call('HDEL', view, ARGV[i]) end
return 1
