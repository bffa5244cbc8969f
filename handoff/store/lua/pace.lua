-- pace.lua: may this call begin now, and if not, when and why not? Counts it when it may.
--
-- KEYS  1 when the next call may begin, ms (string)   2 calls that wait for that (zset: call id by rank)
--       3 beginnings of calls to this number (zset: call id by ms)   4 today's calls (hash: n, cents)
-- ARGV  1 call id   2 now, ms   3 rank: the lower the sooner   4 ms between two beginnings, 0 = no limit
--       5 caps of a number, JSON [[count, window ms], ...]   6 calls a day, 0 = no limit
--       7 hundredths a day, 0 = no limit   8 hundredths a minute   9 "1" when it is critical
--       10 the part of a day that is kept for what is critical   11 when the day ends, ms
-- Returns {"go"} or {"hold", why, until ms}. A call that was told to go is told so again: its commit may have
-- been refused because something else changed, and it is counted once.
local id, now, rank, interval = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local critical = ARGV[9] == "1"
if redis.call("ZSCORE", KEYS[3], id) then
  return {"go"}
end

-- A number's caps: what is critical is not held by them.
local longest, free = 0, now
for _, cap in ipairs(cjson.decode(ARGV[5])) do
  local count, window = cap[1], cap[2]
  longest = math.max(longest, window)
  if not critical then
    -- The call that has to be out of the window before another may begin.
    local nth = redis.call("ZREVRANGE", KEYS[3], count - 1, count - 1, "WITHSCORES")
    if nth[2] and tonumber(nth[2]) + window > free then
      free = tonumber(nth[2]) + window
    end
  end
end
if free > now then
  redis.call("ZREM", KEYS[2], id)
  return {"hold", "number", string.format("%.0f", free)}
end

-- The day's ceiling, the last part of which is kept for what is critical.
local calls = tonumber(redis.call("HGET", KEYS[4], "n") or "0")
local cents = tonumber(redis.call("HGET", KEYS[4], "cents") or "0")
local function reached(used, more, ceiling)
  local open = critical and ceiling or ceiling - ceiling / tonumber(ARGV[10])
  return ceiling > 0 and used + more > open + 0.0001
end
if reached(calls, 1, tonumber(ARGV[6])) or reached(cents, tonumber(ARGV[8]), tonumber(ARGV[7])) then
  redis.call("ZREM", KEYS[2], id)
  return {"hold", "day", ARGV[11]}
end

-- The account's rate. While calls wait, a slot that was taken late moves none of those behind it: else the clock,
-- which looks every now and then, would make the rate lower than it is.
if interval > 0 then
  local next = tonumber(redis.call("GET", KEYS[1]) or "0")
  if next > now + 86400000 then
    next = now -- somebody's clock was a day ahead
  end
  local from = redis.call("ZCARD", KEYS[2]) > 0 and now - 1000 or now
  redis.call("ZADD", KEYS[2], rank, id)
  local place = redis.call("ZRANK", KEYS[2], id)
  if place > 0 or next > now then
    return {"hold", "rate", string.format("%.0f", math.ceil(math.max(next, now) + place * interval))}
  end
  redis.call("ZREM", KEYS[2], id)
  redis.call("SET", KEYS[1], string.format("%.3f", math.max(next, from) + interval), "PX", 86400000)
end

if longest > 0 then
  redis.call("ZREMRANGEBYSCORE", KEYS[3], "-inf", now - longest)
end
redis.call("ZADD", KEYS[3], now, id)
redis.call("PEXPIRE", KEYS[3], math.max(longest, 3600000))
redis.call("HINCRBY", KEYS[4], "n", 1)
redis.call("HINCRBYFLOAT", KEYS[4], "cents", ARGV[8])
redis.call("PEXPIRE", KEYS[4], 172800000)
return {"go"}
