// Scripts: several statements that a pool sends as one text, without parameters, and that the server runs as one transaction.

/**
 * Makes a script. Its transaction sees what others have committed while it waits for a lock, whatever the default isolation level
 * of the database is. No prepared statement is involved, so that it works behind PgBouncer.
 */
export function scriptOf(statements: readonly string[]): string {
  return ["SET TRANSACTION ISOLATION LEVEL READ COMMITTED", ...statements].join(";\n");
}

/** A text as part of a script. The form with E is read in the same way by every configuration of the server. */
export function literal(text: string): string {
  const quoted = text.replaceAll("'", "''");
  return quoted.includes("\\") ? ` E'${quoted.replaceAll("\\", "\\\\")}'` : `'${quoted}'`;
}
