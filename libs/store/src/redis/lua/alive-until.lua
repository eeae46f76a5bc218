-- The longest lease that a configuration accepts, in milliseconds.
local LONGEST_TTL = 10 * 60 * 1000

-- When a member expires, from its entry; nil if it has. An expiry that no heartbeat can have set by this clock was set while the clock
-- was ahead.
local function alive_until(text, now)
  local expires_at = tonumber(text)
  if expires_at and expires_at > now and expires_at <= now + LONGEST_TTL then return expires_at end
end
