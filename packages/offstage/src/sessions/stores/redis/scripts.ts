// What runs inside Redis: whole reads and whole commits as scripts. A list is a hash of values and a sorted set of its keys.

/** KEYS: hash and sorted set of each list. ARGV: ttl; then checks and writes as numbered lists of fields. */
export const commitScript = `
local at, current, refused = 2, {}, false
local function take() at = at + 1; return ARGV[at - 1] end
for i = 1, tonumber(take()) do
  local list, key, present, value = tonumber(take()), take(), take(), take()
  local found = redis.call("HGET", KEYS[list], key)
  current[i] = found
  if (found or "") ~= value or (found and "1" or "0") ~= present then refused = true end
end
if refused then return { "refused", unpack(current) } end
local lists = {}
for _ = 1, tonumber(take()) do
  local list, kind, key, value = tonumber(take()), take(), take(), take()
  lists[list] = true
  if kind == "list" then
    redis.call("DEL", KEYS[list], KEYS[list + 1])
  elseif kind == "row" then
    redis.call("HDEL", KEYS[list], key)
    redis.call("ZREM", KEYS[list + 1], key)
  else
    redis.call("HSET", KEYS[list], key, value)
    redis.call("ZADD", KEYS[list + 1], 0, key)
  end
end
if ARGV[1] ~= "" then
  for list in pairs(lists) do
    redis.call("PEXPIRE", KEYS[list], ARGV[1])
    redis.call("PEXPIRE", KEYS[list + 1], ARGV[1])
  end
end
return { "done" }`;

/** KEYS: hash and sorted set. ARGV: direction, first bound, second bound, limit (-1 is all). Gives keys and values in turn. */
export const readScript = `
local command = ARGV[1] == "reverse" and "ZREVRANGEBYLEX" or "ZRANGEBYLEX"
local keys = redis.call(command, KEYS[2], ARGV[2], ARGV[3], "LIMIT", 0, tonumber(ARGV[4]))
local rows = {}
for start = 1, #keys, 1000 do
  local part = {}
  for i = start, math.min(start + 999, #keys) do part[#part + 1] = keys[i] end
  local values = redis.call("HMGET", KEYS[1], unpack(part))
  for i = 1, #part do
    rows[#rows + 1] = part[i]
    rows[#rows + 1] = values[i]
  end
end
return rows`;

/** KEYS: the hash of each row. ARGV: the key of each. Gives a value, or nothing, for each. */
export const getScript = `
local values = {}
for i = 1, #KEYS do values[i] = redis.call("HGET", KEYS[i], ARGV[i]) end
return values`;
