import { expect, test } from "vitest";
import { maskAddress, placeOf } from "./address.ts";

test.each([
  ["postgres://localhost/x", "postgres://localhost/x", "localhost/x"],
  ["postgres://user:secret@db.host:5432/x", "postgres://***@db.host:5432/x", "db.host:5432/x"],
  ["postgress://user:se@cr/et?@host/x?password=secret", "postgress://***@host/x?***", "host/x"],
  ["postgres://user:123/secret@host/x#secret", "postgres://***@host/x?***", "host/x"],
  ["postgres:user:secret@host", "postgres:***@host", "host"],
  ["user:secret@host", "user:***@host", "host"],
  ["secret@host", "***@host", "host"],
  ["./offstage.db", "./offstage.db", "./offstage.db"],
  ["", "", ""],
])("%j is shown as %j", (url, shown, place) => {
  expect([maskAddress(url), placeOf(url)]).toEqual([shown, place]);
});
