-- through.lua: whose key this is, and what they ask for, in one round trip.
--
-- KEYS  1 hash: hash of an API key -> its id   2 hash: id -> the key's record   3 a handoff (optional)
-- ARGV  1 hash of the API key
-- Returns {the key's record or "", the handoff's document or ""}.
local id = redis.call("HGET", KEYS[1], ARGV[1])
local record = id and redis.call("HGET", KEYS[2], id)
local handoff = KEYS[3] and redis.call("HGET", KEYS[3], "doc")
return {record or "", handoff or ""}
