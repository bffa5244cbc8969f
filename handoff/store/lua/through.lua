-- through.lua: follow one hash into another, in one round trip.
--
-- KEYS  1 first hash: field -> field of the second   2 second hash: field -> document
-- ARGV  1 field of the first hash
-- Returns the document, or nil when either hash has no such field.
local field = redis.call("HGET", KEYS[1], ARGV[1])
return field and redis.call("HGET", KEYS[2], field)
