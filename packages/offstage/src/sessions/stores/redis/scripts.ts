// Lua scripts that run inside Redis: a whole read or a whole commit each. A list is a hash of values and a sorted set of keys.

/**
 * KEYS: hash and sorted set of each list. ARGV: the prefix of keys, the time to live ("" for none) and the session that is
 * written to ("" for none); then checks, writes, lists of the session and index lists, each group preceded by its length.
 *
 * If sessions expire, a set for each session holds the names of its index lists, and its key in the list of sessions after an
 * "a". The index lists expire together with that set, at least half a lifetime after the session, so that they need not be
 * refreshed with every write. A session that is created again removes the index lists of the one that expired. Each write checks
 * the two least recently active sessions, and removes them from the list if they have expired. All keys share the part in braces,
 * so that a cluster keeps them in one slot.
 */
export const commitScript = `
local base, ttl, session = ARGV[1], tonumber(ARGV[2]), ARGV[3]
local at, current, refused = 4, {}, false
local function take() at = at + 1; return ARGV[at - 1] end
local function both(list, call) call(base .. "h:" .. list); call(base .. "z:" .. list) end
local set, lives = base .. "k:" .. session, ttl and session ~= ""
local function isThere() return redis.call("EXISTS", base .. "h:h/" .. session) == 1 end
local space = session:match("^[^/]*")
local hash, sorted = base .. "h:a/" .. space, base .. "z:a/" .. space
local function unlist(key) redis.call("HDEL", hash, key); redis.call("ZREM", sorted, key) end
if lives and not isThere() then
  for _, each in ipairs(redis.call("SMEMBERS", set)) do
    if each:sub(1, 2) == "r/" then both(each, function(key) redis.call("DEL", key) end) end
    if each:sub(1, 2) == "a " then unlist(each:sub(3)) end
  end
  redis.call("DEL", set)
end
for i = 1, tonumber(take()) do
  local list, key, present, value = tonumber(take()), take(), take(), take()
  local found = redis.call("HGET", KEYS[list], key)
  current[i] = found
  if (found or "") ~= value or (found and "1" or "0") ~= present then refused = true end
end
if refused then return { "refused", unpack(current) } end
for _ = 1, tonumber(take()) do
  local list, kind, key, value = tonumber(take()), take(), take(), take()
  if lives and KEYS[list] == hash then redis.call(kind == "put" and "SADD" or "SREM", set, "a " .. key) end
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
if not ttl then return { "done" } end
local function live(list, ms)
  both(list, function(key) if redis.call("PTTL", key) < ms then redis.call("PEXPIRE", key, ms) end end)
end
for _ = 1, tonumber(take()) do
  both(take(), function(key) redis.call("PEXPIRE", key, ttl) end)
end
local left = lives and redis.call("PTTL", set) or ttl
for _ = 1, tonumber(take()) do
  local list = take()
  if lives then redis.call("SADD", set, list) end
  live(list, left)
end
if lives and not isThere() then
  redis.call("DEL", set)
elseif lives and left < 1.5 * ttl then
  for _, list in ipairs(redis.call("SMEMBERS", set)) do live(list, 2 * ttl) end
  redis.call("PEXPIRE", set, 2 * ttl)
end
for _, key in ipairs(lives and redis.call("ZRANGE", sorted, 0, 1) or {}) do
  if redis.call("EXISTS", base .. "h:h/" .. space .. "/" .. key:match("%.(.*)$")) == 0 then unlist(key) end
end
return { "done" }`;

/** KEYS: hash and sorted set. ARGV: direction, first bound, second bound, limit (-1 is all). Returns alternating keys and values. */
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

/** KEYS: the hash of each row. ARGV: the key of each row. Returns a value or nothing for each row. */
export const getScript = `
local values = {}
for i = 1, #KEYS do values[i] = redis.call("HGET", KEYS[i], ARGV[i]) end
return values`;
