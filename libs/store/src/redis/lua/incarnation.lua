-- Identifies one uninterrupted run of one master: the run id changes when the server restarts, the replication id also
-- when a replica is promoted, even if it has been master before.
local function incarnation()
  local info = redis.call('INFO', 'server', 'replication')
  return string.match(info, 'run_id:(%x+)') .. ':' .. string.match(info, 'master_replid:(%x+)')
end
