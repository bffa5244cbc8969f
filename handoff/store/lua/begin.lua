-- begin.lua: a worker starts on an effect. One run at a time: while a run's time is not over, others stop.
--
-- KEYS  1 due rows   2 rows (hash: effect id -> document)   3 runs (hash: effect id -> "<end, ms>|<run>")
-- ARGV  1 effect id   2 now, ms   3 how long a run may take, ms   4 the run's own name
--       5 by how much the clocks of two machines may differ, ms
-- Returns {"run", document}; {"gone"} when it was finished before; {"busy"} while another run has it, or when
-- it was put off meanwhile (a job of an earlier claim may still be in the queue). The same run, asking again
-- because the reply was lost, is told "run" again.
local id, now, span, run = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), ARGV[4]
local document = redis.call("HGET", KEYS[2], id)
if not document then
  return {"gone"}
end
if cjson.decode(document).due > now + tonumber(ARGV[5]) then
  return {"busy"}
end
local present = redis.call("HGET", KEYS[3], id)
if present then
  local ends, name = string.match(present, "^(%d+)|(.*)$")
  if name ~= run and tonumber(ends) > now then
    return {"busy"}
  end
end
local ends = string.format("%.0f", now + span)
redis.call("HSET", KEYS[3], id, ends .. "|" .. run)
redis.call("ZADD", KEYS[1], ends, id)
return {"run", document}
