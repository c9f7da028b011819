// "offstage/dbos": the same agents on several workers over one Postgres. Needs the package "@dbos-inc/dbos-sdk".
export type {
  EngineClient,
  EngineHealth,
  EngineResult,
  ResultOptions,
  StopOptions,
  SubmitOptions,
  Submitted,
} from "../../engines/dbos/client.ts";
export { type CloseOptions, type DbosEngine, dbosEngine, type Schedule } from "../../engines/dbos/engine.ts";
export type { DbosEngineOptions } from "../../engines/dbos/engine-options.ts";
export type { EngineMeter } from "../../engines/dbos/metrics.ts";
export type { EngineAgent } from "../../engines/dbos/work.ts";
