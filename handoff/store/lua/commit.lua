-- commit.lua: check every guard, then do every write, or do nothing at all.
--
-- The rules are in Python (lifecycle.py); this only makes them atomic. It knows no key name, no state and
-- no event: every key comes in through KEYS.
--
-- ARGV  1            the command's id, or "" for none. KEYS[1] is the hash that remembers commands.
--       2            the outcome to remember for that command (any text)
--       3            number of guards, each three values: key index, field, expected text
--                    ("" as field compares the whole string key; an absent value is the empty text)
--       then         number of writes, each: command name, number of arguments, arguments;
--                    an argument "@n" stands for KEYS[n], any other starts with "=" and is taken after it
-- Returns {"again", outcome} when the command was carried out before, {"stale", i} when guard i failed,
--         {"done"} otherwise.
local command, outcome = ARGV[1], ARGV[2]
if command ~= "" then
  local before = redis.call("HGET", KEYS[1], command)
  if before then
    return {"again", before}
  end
end
local at = 3
local guards = tonumber(ARGV[at])
at = at + 1
for i = 1, guards do
  local key, field, expected = KEYS[tonumber(ARGV[at])], ARGV[at + 1], ARGV[at + 2]
  local found
  if field == "" then
    found = redis.call("GET", key)
  else
    found = redis.call("HGET", key, field)
  end
  if (found or "") ~= expected then
    return {"stale", tostring(i)}
  end
  at = at + 3
end
if command ~= "" then
  redis.call("HSET", KEYS[1], command, outcome)
end
local writes = tonumber(ARGV[at])
at = at + 1
for _ = 1, writes do
  local count = tonumber(ARGV[at + 1])
  local args = {ARGV[at]}
  for j = 1, count do
    local arg = ARGV[at + 1 + j]
    if string.sub(arg, 1, 1) == "@" then
      args[j + 1] = KEYS[tonumber(string.sub(arg, 2))]
    else
      args[j + 1] = string.sub(arg, 2)
    end
  end
  redis.call(unpack(args))
  at = at + 2 + count
end
return {"done"}
