-- A unique version for a scope's state; never reused, even if the state is lost.
local function new_version(fencing_token)
  local time = redis.call('TIME')
  return string.format('%s/%s.%06d', fencing_token, time[1], time[2])
end
