-- KEYS: meta. What must not have changed while a claimed scope was read.
local version = redis.call('HGET', KEYS[1], 'version')
return { version or '', incarnation() }
