import { type ServerCommand, ServerProcess } from './server-process.ts';

/** A server program that answers. It ends with this process. */
export interface RunningServer {
  /** Can be frozen (SIGSTOP), killed and started again: ports stay, and data on disk. */
  readonly process: ServerProcess;
  /** Waits until it answers, say after `process.start()`. */
  ready(): Promise<void>;
  /** Asks it to end, and kills it when it has not after a grace period. */
  stop(): Promise<void>;
}

/** When a server counts as ready, and how long it has for that and for its end. */
export interface Readiness {
  readonly answers: () => Promise<boolean>;
  readonly patienceMilliseconds: number;
  readonly graceMilliseconds?: number;
}

/**
 * Starts a server program and returns when it answers.
 *
 * @throws LocalError `exited` or `not-ready`; nothing is left running then
 */
export async function startServer(command: ServerCommand, readiness: Readiness): Promise<RunningServer> {
  const { answers, patienceMilliseconds, graceMilliseconds } = readiness;
  const server = new ServerProcess(command);
  const ready = () => server.ready(answers, patienceMilliseconds);
  try {
    await server.start();
    await ready();
  } catch (error) {
    await server.kill();
    throw error;
  }
  return { process: server, ready, stop: () => server.stop(graceMilliseconds) };
}

/** Whether an address answers a request with success within a second. */
export async function succeeds(url: string, request: RequestInit = {}): Promise<boolean> {
  try {
    const response = await fetch(url, { ...request, signal: AbortSignal.timeout(1000) });
    await response.arrayBuffer();
    return response.ok;
  } catch {
    return false;
  }
}
