// The front door of "offstage/redis". Needs the package "@redis/client", or a client of the caller's.
export { type RedisStoreOptions, redisStore } from "./open-store.ts";
