// "offstage/postgres": a store in a Postgres database. Needs the package "pg", or a pool of the caller's.
export { type PostgresStoreOptions, postgresStore } from "../../sessions/open-store.ts";
