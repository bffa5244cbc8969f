-- commit.lua: check every guard, then do every write, or do nothing at all.
--
-- The rules are in Python (lifecycle.py); this only makes them atomic. It knows no key name, no state and
-- no event: every key comes in through KEYS.
--
-- ARGV  1  the command's id, or "" for none. KEYS[1] is the hash that remembers commands.
--       2  the outcome to remember for that command (any text)
--       3  JSON: [guards, writes]. A guard is [number of a key, field, expected text] ("" as field compares
--          the whole string key; an absent value is the empty text). A write is [command, number of a key,
--          argument...]. One text instead of hundreds of arguments, each of which costs the client more to
--          send than it costs to take apart here.
-- Returns {"again", outcome} when the command was carried out before, {"stale", i} when guard i failed,
--         {"done"} otherwise.
local command, outcome = ARGV[1], ARGV[2]
if command ~= "" then
  local before = redis.call("HGET", KEYS[1], command)
  if before then
    return {"again", before}
  end
end
local guards, writes = unpack(cjson.decode(ARGV[3]))
for i, guard in ipairs(guards) do
  local key, field, expected = KEYS[guard[1]], guard[2], guard[3]
  local found
  if field == "" then
    found = redis.call("GET", key)
  else
    found = redis.call("HGET", key, field)
  end
  if (found or "") ~= expected then
    return {"stale", tostring(i)}
  end
end
if command ~= "" then
  redis.call("HSET", KEYS[1], command, outcome)
end
for _, write in ipairs(writes) do
  redis.call(write[1], KEYS[write[2]], unpack(write, 3))
end
return {"done"}
