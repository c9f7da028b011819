// The Lua scripts that run inside Redis: a whole read or a whole commit each.
import { layout } from "./layout.ts";

/** ARGV: the places as JSON. Returns the JSON of each row, or nothing. */
export const getScript: string = `${layout}
local rows = {}
for i, place in ipairs(cjson.decode(ARGV[1])) do rows[i] = getRow(place.table, place.key) end
return rows`;

/** ARGV: the range as JSON. Returns the JSON of each row. No byte of UTF-8 is 255, so it ends a range. */
export const readScript: string = `${layout}
local range = cjson.decode(ARGV[1])
local of, shape = range.table, tables[range.table]
local order = range.order and shape.orders[range.order] or shape.key
if not range.order and #range.prefix == #order.scope + #order.by then
  local row = getRow(of, range.prefix)
  return row and range.limit ~= 0 and { row } or {}
end
local scope, rest = locate(order, range.prefix)
local sorted, hash = orderKey(of, range.order or "key", scope), hashKey(of, scope)
local low = "[" .. rest .. (range.from and encode(range.from) or "")
local high = "(" .. rest .. (range.before and encode(range.before) or "\\255")
local command, first, last = "ZRANGEBYLEX", low, high
if range.reverse then command, first, last = "ZREVRANGEBYLEX", high, low end

local function rowOf(entry)
  if order.isPointer then return rowAt(of, range.order, entry) end
  return redis.call("HGET", hash, range.order and placeOf(entry) or entry)
end

-- Entries of expired rows are skipped, so a limit may need more entries than rows.
local rows, offset, count = {}, 0, range.limit or -1
repeat
  local entries = redis.call(command, sorted, first, last, "LIMIT", offset, count)
  for _, entry in ipairs(entries) do
    local row = #rows ~= range.limit and rowOf(entry)
    if row then rows[#rows + 1] = row end
  end
  local isDone = count < 1 or #entries < count or #rows == range.limit
  offset, count = offset + #entries, count * 2
until isDone
return rows`;

/**
 * ARGV[1]: checks, removals, the tables of puts and the time to live, as JSON. After it the JSON of each row, which is stored as it
 * is, with its number at the start if it is numbered. Returns 1 and the number, or 0 and the current row of each check. Rows are
 * decoded before anything is written, so that a malformed one stops the commit.
 *
 * With a time to live, a write to a session refreshes all keys of the session and the orders of its namespace. The entries of an
 * expired session stay in these orders for a while: every write takes two entries of each order at random, and two more for each
 * row that it puts there, and removes those of expired rows. So at most about half of an order is out of date. Without a time to
 * live, a write to a session that would expire makes it last.
 */
export const commitScript: string = `${layout}
local commit = cjson.decode(ARGV[1])
local current, refused = {}, false
local function isMet(text, where)
  if not text or not where then return not text and not where end
  local row = cjson.decode(text)
  for column, value in pairs(where) do
    local found = row[column]
    if found == nil then found = cjson.null end
    if found ~= value then return false end
  end
  return true
end
for i, check in ipairs(commit.checks) do
  current[i] = getRow(check.table, check.key)
  refused = refused or not isMet(current[i], check.where)
end
if refused then return { 0, current } end

local number = commit.isNumbered and redis.call("INCR", base .. "number")
local outdated, sessions = {}, {}
local function note(of, scope) if tables[of].isOfSession then sessions[scope] = true end end
local function outdate(of, text)
  for _, each in ipairs(text and entriesOf(of, cjson.decode(text)) or {}) do outdated[#outdated + 1] = each end
end
local function ownKeys(of, scope)
  local keys = { hashKey(of, scope), orderKey(of, "key", scope) }
  for order, each in pairs(tables[of].orders) do
    if not each.isPointer then keys[#keys + 1] = orderKey(of, order, scope) end
  end
  return keys
end

for _, removal in ipairs(commit.removals) do
  local of, shape = removal.table, tables[removal.table]
  local scope, rest = locate(shape.key, removal.remove)
  removal.scope = scope
  note(of, scope)
  if #removal.remove == #shape.key.scope + #shape.key.by then
    removal.fields = { rest }
  elseif rest ~= "" then
    removal.fields = redis.call("ZRANGEBYLEX", orderKey(of, "key", scope), "[" .. rest, "(" .. rest .. "\\255")
  elseif shape.hasPointers then
    for _, text in ipairs(redis.call("HVALS", hashKey(of, scope))) do outdate(of, text) end
  end
  for _, field in ipairs(next(shape.orders) and removal.fields or {}) do
    outdate(of, redis.call("HGET", hashKey(of, scope), field))
  end
end
for i, put in ipairs(commit.puts) do
  local of, shape, row = put.table, tables[put.table], cjson.decode(ARGV[i + 1])
  if put.numbered then row[put.numbered] = number end
  put.scope, put.field = locate(shape.key, valuesOf(shape.key, row))
  put.entries = entriesOf(of, row)
  note(of, put.scope)
  if next(shape.orders) then outdate(of, redis.call("HGET", hashKey(of, put.scope), put.field)) end
end

for _, each in ipairs(outdated) do redis.call("ZREM", each[1], each[2]) end
for _, removal in ipairs(commit.removals) do
  local of, scope = removal.table, removal.scope
  for _, field in ipairs(removal.fields or {}) do
    redis.call("HDEL", hashKey(of, scope), field)
    redis.call("ZREM", orderKey(of, "key", scope), field)
  end
  if not removal.fields then redis.call("UNLINK", unpack(ownKeys(of, scope))) end
end
local added = {}
for i, put in ipairs(commit.puts) do
  local of, text = put.table, ARGV[i + 1]
  if put.numbered then text = ('{"%s":%.0f,'):format(put.numbered, number) .. text:sub(2) end
  redis.call("HSET", hashKey(of, put.scope), put.field, text)
  if put.field ~= "" then redis.call("ZADD", orderKey(of, "key", put.scope), 0, put.field) end
  for _, each in ipairs(put.entries) do redis.call("ZADD", each[1], 0, each[2]) end
  added[of] = (added[of] or 0) + 1
end

local deadline
if commit.ttlMs then
  local time = redis.call("TIME")
  deadline = ("%.0f"):format(time[1] * 1000 + math.floor(time[2] / 1000) + commit.ttlMs)
end
local function refresh(key)
  if deadline then redis.call("PEXPIREAT", key, deadline) else redis.call("PERSIST", key) end
end
local function sweep(of, order, sorted)
  for _, entry in ipairs(redis.call("ZRANDMEMBER", sorted, 2 + 2 * (added[of] or 0))) do
    -- A malformed row of another session must not fail this commit.
    local isReadable, row = pcall(rowAt, of, order, entry)
    if isReadable and not row then redis.call("ZREM", sorted, entry) end
  end
end
local function refreshSession(scope)
  for of, shape in pairs(tables) do
    for _, key in ipairs(shape.isOfSession and ownKeys(of, scope) or {}) do refresh(key) end
    for order, each in pairs(shape.orders) do
      if each.isPointer then
        local sorted = orderKey(of, order, scope:match("^[^:]*"))
        refresh(sorted)
        sweep(of, order, sorted)
      end
    end
  end
end
for scope in pairs(sessions) do
  if deadline or redis.call("PTTL", hashKey("sessions", scope)) >= 0 then refreshSession(scope) end
end
return { 1, number }`;
