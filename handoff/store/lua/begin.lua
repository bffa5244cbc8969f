-- begin.lua: a worker starts on an effect. One run at a time: while a run's time is not over, others stop.
--
-- KEYS  1 due rows   2 rows (hash: effect id -> document)   3 runs (hash: effect id -> end of its run, ms)
-- ARGV  1 effect id   2 now, ms   3 how long a run may take, ms
-- Returns {"run", document}, {"gone"} when it was finished before, or {"busy"} while another run has it.
local id, now, span = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local document = redis.call("HGET", KEYS[2], id)
if not document then
  return {"gone"}
end
local until_ = tonumber(redis.call("HGET", KEYS[3], id) or "0")
if until_ > now then
  return {"busy"}
end
local ends = string.format("%.0f", now + span)
redis.call("HSET", KEYS[3], id, ends)
redis.call("ZADD", KEYS[1], ends, id)
return {"run", document}
