-- claim.lua: take effects that are due, without removing them: each row moves to now + lease.
--
-- KEYS  1 due rows (sorted set: effect id by due ms)   2 leases (hash: effect id -> number of claims)
--       3 rows (hash: effect id -> document)
-- ARGV  1 now, ms   2 how many at most   3 lease, ms   4 longest lease, ms
-- Returns a flat list: effect id, lease number, document, ... Each claim of a row that is still there
-- doubles its lease, up to the longest, so that a backlog in the queue is not filled with copies of itself.
local claimed = {}
local now, lease, longest = tonumber(ARGV[1]), tonumber(ARGV[3]), tonumber(ARGV[4])
for _, id in ipairs(redis.call("ZRANGEBYSCORE", KEYS[1], "-inf", now, "LIMIT", 0, tonumber(ARGV[2]))) do
  local document = redis.call("HGET", KEYS[3], id)
  if document then
    local number = redis.call("HINCRBY", KEYS[2], id, 1)
    local wait = math.min(lease * 2 ^ (number - 1), longest)
    redis.call("ZADD", KEYS[1], string.format("%.0f", now + wait), id)
    claimed[#claimed + 1] = id
    claimed[#claimed + 1] = tostring(number)
    claimed[#claimed + 1] = document
  else
    redis.call("ZREM", KEYS[1], id)
  end
end
return claimed
