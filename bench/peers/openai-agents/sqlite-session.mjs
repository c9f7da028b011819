// A session on node:sqlite for @openai/agents, which ships none: one row per item.
import fs from "node:fs";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";

export class SqliteSession {
  constructor(file, sessionId) {
    fs.mkdirSync(path.dirname(file), { recursive: true });
    this.sessionId = sessionId;
    this.database = new DatabaseSync(file);
    this.database.exec(`
      PRAGMA journal_mode = WAL;
      PRAGMA synchronous = NORMAL;
      CREATE TABLE IF NOT EXISTS items(id INTEGER PRIMARY KEY, session TEXT, data TEXT);
      CREATE INDEX IF NOT EXISTS items_by_session ON items(session, id)`);
    this.insert = this.database.prepare("INSERT INTO items(session, data) VALUES(?, ?)");
    this.all = this.database.prepare("SELECT data FROM items WHERE session = ? ORDER BY id");
    this.latest = this.database.prepare(
      "SELECT data FROM (SELECT id, data FROM items WHERE session = ? ORDER BY id DESC LIMIT ?) ORDER BY id",
    );
  }

  async getSessionId() {
    return this.sessionId;
  }

  async getItems(limit) {
    const rows = limit === undefined ? this.all.all(this.sessionId) : this.latest.all(this.sessionId, limit);
    return rows.map((row) => JSON.parse(row.data));
  }

  async addItems(items) {
    this.database.exec("BEGIN");
    for (const item of items) {
      this.insert.run(this.sessionId, JSON.stringify(item));
    }
    this.database.exec("COMMIT");
  }

  async popItem() {
    const newest = "SELECT max(id) FROM items WHERE session = ?";
    const row = this.database.prepare(`DELETE FROM items WHERE id = (${newest}) RETURNING data`).get(this.sessionId);
    return row && JSON.parse(row.data);
  }

  async clearSession() {
    this.database.prepare("DELETE FROM items WHERE session = ?").run(this.sessionId);
  }

  close() {
    this.database.close();
  }
}
