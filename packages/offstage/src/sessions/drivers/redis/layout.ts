// The layout of the keys in Redis, as the Lua functions that every script starts with. Nothing else knows it.
import { type Order, type Table, tables } from "../../ports/tables.ts";

/** An order as the scripts see it. */
interface ScriptOrder extends Order {
  /** The order belongs to a whole namespace: its entries name the scope of their rows too. */
  readonly isPointer: boolean;
}

const schema = Object.fromEntries(
  Object.entries<Table>(tables).map(([name, { key, orders }]) => {
    const scripted = Object.entries(orders).map(([order, each]) => [order, scriptOrder(key, each)] as const);
    const hasPointers = scripted.some(([, { isPointer }]) => isPointer);
    const isOfSession = key.scope.includes("session_id");
    return [name, { key, orders: Object.fromEntries(scripted), hasPointers, isOfSession }];
  }),
);

// An order of another scope than the key's is one sorted set for each namespace, whose entries start with the rest of the scope.
// A sorted set for each run or trace would have to be kept alive as long as its session.
function scriptOrder(key: Order, { scope, by }: Order): ScriptOrder {
  const isPointer = scope.join() !== key.scope.join();
  return isPointer ? { scope: scope.slice(0, 1), by: [...scope.slice(1), ...by], isPointer } : { scope, by, isPointer };
}

/**
 * KEYS[1] is the start of all keys, "{offstage}:". The rows of a table and scope are JSON in a hash, such as
 * "{offstage}:messages:acme:anna"; ids in names of keys are percent-encoded. The field of a row is its key without the scope.
 * Each order is a sorted set, such as "{offstage}:messages.said:acme:anna": its entries have the score 0 and are ordered by bytes.
 * An entry is the encoded values of the order, the place of the row and the length of this place; in ".key" it is the field.
 */
export const layout: string = `
local base, tables = KEYS[1], cjson.decode([=[${JSON.stringify(schema)}]=])

local function escape(char) return ("%%%02X"):format(char:byte()) end
local function name(text) return (text:gsub("[^%w_.~-]", escape)) end

-- Encodes a value as bytes in the order of values. No text contains a NUL, so it ends one.
local function encode(value)
  if type(value) == "string" then return value .. "\\0" end
  local bytes = { struct.pack(">d", value):byte(1, 8) }
  if bytes[1] < 128 then
    bytes[1] = bytes[1] + 128
  else
    for i = 1, 8 do bytes[i] = 255 - bytes[i] end
  end
  return ("%02x"):rep(8):format(unpack(bytes))
end

-- The name of the scope, and the encoded values that follow it.
local function locate(order, values)
  local scope, rest = {}, {}
  for i, value in ipairs(values) do
    if i <= #order.scope then scope[i] = name(value) else rest[#rest + 1] = encode(value) end
  end
  return table.concat(scope, ":"), table.concat(rest)
end

-- The values of a row in an order; nil if one is null.
local function valuesOf(order, row)
  local values = {}
  for _, columns in ipairs({ order.scope, order.by }) do
    for _, column in ipairs(columns) do
      local value = row[column]
      if value == nil or value == cjson.null then return nil end
      values[#values + 1] = value
    end
  end
  return values
end

local function hashKey(of, scope) return base .. of .. ":" .. scope end
local function orderKey(of, order, scope) return base .. of .. "." .. order .. ":" .. scope end

-- The sorted set of an order that a row is part of, and its entry there; nil if it is not part of the order.
local function entryOf(of, order, row)
  local shape, each = tables[of], tables[of].orders[order]
  local values = valuesOf(each, row)
  if not values then return nil end
  local scope, encoded = locate(each, values)
  local rowScope, field = locate(shape.key, valuesOf(shape.key, row))
  local place = each.isPointer and rowScope .. "\\0" .. field or field
  return orderKey(of, order, scope), encoded .. place .. ("%06x"):format(#place)
end

-- The sorted sets that a row is part of, each with its entry there.
local function entriesOf(of, row)
  local entries = {}
  for order in pairs(tables[of].orders) do
    local sorted, entry = entryOf(of, order, row)
    if sorted then entries[#entries + 1] = { sorted, entry } end
  end
  return entries
end

local function placeOf(entry)
  local length = tonumber(entry:sub(-6), 16)
  return entry:sub(-6 - length, -7)
end

-- The row of an entry of a whole namespace; nil if it expired, also if another row has its place since.
local function rowAt(of, order, entry)
  local scope, field = placeOf(entry):match("^(%Z*)%z(.*)$")
  local text = redis.call("HGET", hashKey(of, scope), field)
  local _, found = entryOf(of, order, text and cjson.decode(text) or {})
  return found == entry and text or nil
end

local function getRow(of, key)
  local scope, field = locate(tables[of].key, key)
  return redis.call("HGET", hashKey(of, scope), field)
end
`;
