-- pace.lua: may this call begin now, and if not, when and why not? Counts it when it may. A text is asked about
-- in the same way, under the key of its own number: it has caps only.
--
-- KEYS  1 when the next call may begin, ms (string)   2 calls that wait for that (zset: call id by rank)
--       3 when each of them asks again, ms (zset)   4 beginnings of calls to this number (zset: call id by ms)
--       5 today's calls (hash: n, cents)   6 due rows of the outbox   7 the rows (hash: effect id -> document)
--       8 those of 4 that this API key's handoffs asked for (zset); the same as 4 where nobody counts them
-- ARGV  1 call id   2 now, ms   3 rank: the lower the sooner   4 ms between two beginnings, 0 = no limit
--       5 caps of a number, JSON [[count, window ms], ...]   6 calls a day, 0 = no limit
--       7 hundredths a day, 0 = no limit   8 hundredths a minute   9 "1" when it is critical
--       10 the part of a day that is kept for what is critical   11 when the day ends, ms
--       12 by how much the clocks of two machines may differ, ms   13 "ask", or "leave": it waits no more
--       14 per cent of a number's caps that this API key's calls may use up   15 "1" when a day's ceiling counts it
-- Returns {"go"} or {"hold", why, until ms}. A call that was told to go is told so again: its commit may have
-- been refused because something else changed, and it is counted once.
--
-- Whoever asks or leaves has the rows of the first that wait made due for the next slots: each sleeps for as long
-- as its place says, and those before it may be gone sooner. One that does not ask again in time (its row is gone,
-- or nobody works) holds nobody up: it is taken out, and finds its old place should it come back.
local id, now, rank, interval = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local critical, differ = ARGV[9] == "1", tonumber(ARGV[12])
local LATE = 10000
-- Keeps the urgencies apart in a rank (store/pacer.py).
local CLASS = 1e14
-- Twice as long as the clock waits between two looks (workers/clock.py), ms.
local LOOKS = 200

local function next_slot()
  local next = tonumber(redis.call("GET", KEYS[1]) or "0")
  return next > now + interval + differ and now or next -- a clock was set back: nobody waits for that
end

-- Has the rows of those who are first come due for their slots, where they would come later: as many as have one
-- before the clock has looked twice, which brings them.
local function wake_first()
  local from = math.max(next_slot(), now)
  for place, first in ipairs(redis.call("ZRANGE", KEYS[2], 0, math.ceil(LOOKS / math.max(interval, 1)) - 1)) do
    local due = string.format("%.0f", math.ceil(from + (place - 1) * interval))
    local asks = tonumber(redis.call("ZSCORE", KEYS[3], first) or "0")
    local row = first ~= id and asks > tonumber(due) and "place_call-" .. first
    local document = row and redis.call("HGET", KEYS[7], row)
    if document and cjson.decode(document).due > tonumber(due) then
      redis.call("HSET", KEYS[7], row, (string.gsub(document, '"due":%d+', '"due":' .. due, 1)))
      redis.call("ZADD", KEYS[6], due, row)
      redis.call("ZADD", KEYS[3], due, first)
    end
  end
end

local function leave()
  if ARGV[15] ~= "1" then
    return -- a text has no place among the calls
  end
  redis.call("ZREM", KEYS[2], id)
  redis.call("ZREM", KEYS[3], id)
  wake_first()
end

if ARGV[13] == "leave" then
  leave()
  return {"go"}
end
if redis.call("ZSCORE", KEYS[4], id) then
  leave()
  return {"go"}
end

-- A number's caps, and this API key's part of them: what is critical is not held by them.
local share, longest, free, own = tonumber(ARGV[14]), 3600000, now, now
-- When the call is out of the window that has to be, before another may begin.
local function opens(key, count, window)
  local nth = redis.call("ZREVRANGE", key, count - 1, count - 1, "WITHSCORES")
  return nth[2] and math.min(tonumber(nth[2]), now) + window or now
end
for _, cap in ipairs(cjson.decode(ARGV[5])) do
  local count, window = cap[1], cap[2]
  longest = math.max(longest, window)
  if not critical then
    free = math.max(free, opens(KEYS[4], count, window))
    if share < 100 then
      own = math.max(own, opens(KEYS[8], math.max(1, math.floor(count * share / 100)), window))
    end
  end
end
if free > now or own > now then
  leave()
  return {"hold", own > free and "share" or "number", string.format("%.0f", math.max(free, own))}
end

-- The day's ceiling, the last part of which is kept for what is critical.
local calls = tonumber(redis.call("HGET", KEYS[5], "n") or "0")
local cents = tonumber(redis.call("HGET", KEYS[5], "cents") or "0")
local function reached(used, more, ceiling)
  local open = critical and ceiling or ceiling - ceiling / tonumber(ARGV[10])
  return ceiling > 0 and used + more > open + 0.0001
end
if reached(calls, 1, tonumber(ARGV[6])) or reached(cents, tonumber(ARGV[8]), tonumber(ARGV[7])) then
  leave()
  return {"hold", "day", ARGV[11]}
end

-- The account's rate. While calls wait, a slot that was taken late moves none of those behind it: else the clock,
-- which looks every now and then, would make the rate lower than it is.
if interval > 0 then
  local from = redis.call("ZCARD", KEYS[2]) > 0 and now - 1000 or now
  redis.call("ZADD", KEYS[2], rank, id)
  redis.call("ZADD", KEYS[3], now, id)
  local gone = redis.call("ZRANGEBYSCORE", KEYS[3], "-inf", now - LATE, "LIMIT", 0, 100)
  for _, other in ipairs(gone) do
    redis.call("ZREM", KEYS[2], other)
    redis.call("ZREM", KEYS[3], other)
  end
  local next, place = next_slot(), redis.call("ZRANK", KEYS[2], id)
  -- Several workers ask at once and in any order: where slots are left over for all before it, it need not wait
  -- for them to ask, unless one of them is more urgent.
  local first = tonumber(redis.call("ZRANGE", KEYS[2], 0, 0, "WITHSCORES")[2])
  local urgent = math.floor(first / CLASS) < math.floor(rank / CLASS)
  if urgent or next + place * interval > now then
    -- Where slots are left over, workers are what is short: who came back too soon would only take more of them.
    local slow = now - next > math.max(500, 5 * interval) and 4 or 1
    local again = string.format("%.0f", math.ceil(math.max(next, now) + place * interval * slow))
    redis.call("ZADD", KEYS[3], again, id)
    wake_first()
    return {"hold", "rate", again}
  end
  redis.call("SET", KEYS[1], string.format("%.3f", math.max(next, from) + interval), "PX", 86400000)
end
leave()

for _, begun in ipairs(KEYS[8] ~= KEYS[4] and {KEYS[4], KEYS[8]} or {KEYS[4]}) do
  redis.call("ZREMRANGEBYSCORE", begun, "-inf", now - longest)
  redis.call("ZADD", begun, now, id)
  redis.call("PEXPIRE", begun, longest)
end
if ARGV[15] == "1" then
  redis.call("HINCRBY", KEYS[5], "n", 1)
  redis.call("HINCRBYFLOAT", KEYS[5], "cents", ARGV[8])
  redis.call("PEXPIRE", KEYS[5], 172800000)
end
return {"go"}
