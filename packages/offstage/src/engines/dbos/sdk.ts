// The part of @dbos-inc/dbos-sdk and of pg that the engine uses, as types of our own: both are optional packages.
import { loadPackage } from "../../base/load-package.ts";

export interface DbosSdk {
  readonly DBOS: Dbos;
  readonly DBOSClient: { create(options: object): Promise<DbosClient> };
}

/** The executor: one per process. */
export interface Dbos {
  setConfig(config: object): void;
  isInitialized(): boolean;
  launch(): Promise<void>;
  shutdown(options: { readonly deregister?: boolean; readonly workflowCompletionTimeoutMS?: number }): Promise<void>;
  migrate(url: string): Promise<void>;
  registerWorkflow<Args extends unknown[]>(
    work: (...args: Args) => Promise<unknown>,
    config: { readonly name: string; readonly maxRecoveryAttempts?: number },
  ): (...args: Args) => Promise<unknown>;
  applySchedules(schedules: readonly object[]): Promise<void>;
}

/** A connection to the queues of the executors. */
export interface DbosClient {
  enqueue(options: EnqueueOptions, ...args: readonly unknown[]): Promise<unknown>;
  registerQueue(name: string, options: object): Promise<unknown>;
  listWorkflows(filter: object): Promise<readonly Workflow[]>;
  getWorkflow(id: string): Promise<Workflow | undefined>;
  cancelWorkflow(id: string): Promise<void>;
  destroy(): Promise<void>;
}

export interface EnqueueOptions {
  readonly queueName: string;
  readonly workflowName: string;
  readonly workflowID: string;
  readonly queuePartitionKey: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly priority: number;
  readonly delaySeconds?: number;
  readonly appVersion: string;
}

export interface Workflow {
  readonly workflowID: string;
  readonly status: string;
  readonly executorId?: string;
  readonly createdAt?: number;
  readonly dequeuedAt?: number;
  readonly input?: readonly unknown[];
}

/** A connection of "pg" that holds the sign of life of a worker. */
export interface PgClient {
  connect(): Promise<unknown>;
  query(text: string, values: readonly unknown[]): Promise<{ readonly rows: readonly Record<string, unknown>[] }>;
  on(event: "error" | "end", listener: () => void): unknown;
  end(): Promise<void>;
}

export async function loadDbos(): Promise<DbosSdk> {
  return load("@dbos-inc/dbos-sdk");
}

/** Opens a connection of its own. */
export async function connectPg(url: string): Promise<PgClient> {
  const { default: pg } = await load<{ default: { Client: new (options: object) => PgClient } }>("pg");
  return new pg.Client({ connectionString: url, application_name: "offstage worker", keepAlive: true });
}

// The name is a variable, so that the types of a package that is not installed are not needed.
function load<Package>(name: string): Promise<Package> {
  return loadPackage(() => import(name) as Promise<Package>, { name, user: "dbosEngine()" });
}
