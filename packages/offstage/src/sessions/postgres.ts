// The front door of "offstage/postgres". Needs the package "pg", or a pool of the caller's.
export { type PostgresStoreOptions, postgresStore } from "./open-store.ts";
