-- Which uninterrupted life of which server this is: the run id changes when the server starts, the replication id also
-- when a replica becomes master, even one that has been master before.
local function incarnation()
  local info = redis.call('INFO', 'server', 'replication')
  return string.match(info, 'run_id:(%x+)') .. ':' .. string.match(info, 'master_replid:(%x+)')
end
