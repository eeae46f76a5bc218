-- KEYS: meta. Returns the values that must not change while a claimed scope is read.
local version = redis.call('HGET', KEYS[1], 'version')
return { version or '', incarnation() }
