// The SQL of the Postgres driver: one table of rows, and one function for a whole commit. Text columns, because jsonb refuses "\u0000".

/** The statements of a driver with this prefix. */
export interface Sql {
  readonly version: string;
  readonly columns: string;
  prepare(version: number): string;
  readonly get: string;
  readonly forward: string;
  readonly backward: string;
  readonly commit: string;
}

export function sqlOf(prefix: string): Sql {
  const rows = `${prefix}_rows`;
  const range = `SELECT key, value FROM ${rows} WHERE list = $1 AND key >= $2 AND key < $3 ORDER BY key`;
  return {
    version: `SELECT version FROM ${prefix}_schema`,
    columns: `SELECT list, key, value FROM ${rows} LIMIT 0`,
    prepare: (version) => prepareSql(prefix, version),
    get: `SELECT r.key, r.value FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS p(list, key, n)
      LEFT JOIN ${rows} r ON r.list = p.list AND r.key = p.key ORDER BY p.n`,
    forward: `${range} LIMIT $4`,
    backward: `${range} DESC LIMIT $4`,
    commit: `SELECT ${prefix}_commit($1, $2, $3, $4, $5, $6) AS current`,
  };
}

// Runs under an advisory lock, so that several processes can open a new database at the same time. The commit function takes its
// locks first, so that each of its statements sees the commits of the transactions it waited for.
function prepareSql(prefix: string, version: number): string {
  const rows = `${prefix}_rows`;
  return `
BEGIN;
SELECT pg_advisory_xact_lock(hashtextextended('${prefix}_schema', 0));
CREATE TABLE IF NOT EXISTS ${rows} (
  list text COLLATE "C" NOT NULL,
  key text COLLATE "C" NOT NULL,
  value text NOT NULL,
  PRIMARY KEY (list, key)
);
CREATE TABLE IF NOT EXISTS ${prefix}_schema (version integer NOT NULL);
CREATE OR REPLACE FUNCTION ${prefix}_commit(
  check_lists text[], check_keys text[], check_values text[], lists text[], keys text[], texts text[]
) RETURNS text[] LANGUAGE plpgsql AS $$
DECLARE current text[];
BEGIN
  PERFORM pg_advisory_xact_lock(hashtextextended(l, 0))
    FROM (SELECT DISTINCT '${prefix} ' || c AS l FROM unnest(check_lists) c ORDER BY l) locks;
  IF cardinality(check_lists) > 0 THEN
    SELECT array_agg(r.value ORDER BY c.n) INTO current
      FROM unnest(check_lists, check_keys) WITH ORDINALITY AS c(list, key, n)
      LEFT JOIN ${rows} r ON r.list = c.list AND r.key = c.key;
    IF current IS DISTINCT FROM check_values THEN RETURN current; END IF;
  END IF;
  DELETE FROM ${rows} r USING unnest(lists, keys) AS w(list, key) WHERE w.key IS NULL AND r.list = w.list;
  DELETE FROM ${rows} r USING unnest(lists, keys, texts) AS w(list, key, value)
    WHERE w.value IS NULL AND r.list = w.list AND r.key = w.key;
  INSERT INTO ${rows} AS r (list, key, value)
    SELECT w.list, w.key, w.value FROM unnest(lists, keys, texts) AS w(list, key, value) WHERE w.value IS NOT NULL
    ON CONFLICT (list, key) DO UPDATE SET value = excluded.value;
  RETURN NULL;
END $$;
DELETE FROM ${prefix}_schema;
INSERT INTO ${prefix}_schema VALUES (${version});
COMMIT;`;
}
