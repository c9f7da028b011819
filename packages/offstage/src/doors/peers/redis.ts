// "offstage/redis": a store on a Redis server. Needs the package "@redis/client", or a client of the caller's.
export { type RedisStoreOptions, redisStore } from "../../sessions/open-store.ts";
