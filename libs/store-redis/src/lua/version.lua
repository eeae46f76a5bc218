-- A name for the state of a scope that no other state ever has, also not one that was lost.
local function new_version(epoch)
  local time = redis.call('TIME')
  return string.format('%s/%s.%06d', epoch, time[1], time[2])
end
