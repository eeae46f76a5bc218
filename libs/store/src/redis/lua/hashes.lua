local function all_of(key)
  local flat, entries = redis.call('HGETALL', key), {}
  for i = 1, #flat, 2 do entries[flat[i]] = flat[i + 1] end
  return entries
end
