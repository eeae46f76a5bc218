import { type ServerCommand, ServerProcess } from './server-process.ts';

/** A server that is ready. It stops with this process. */
export interface RunningServer {
  /** Can be frozen (SIGSTOP), killed and started again with the same ports and data. */
  readonly process: ServerProcess;
  /** Waits until it is ready, for example after `process.start()`. */
  ready(): Promise<void>;
  /** Stops it; kills it after a grace period. */
  stop(): Promise<void>;
}

export interface Readiness {
  readonly isReady: () => Promise<boolean>;
  /** Default 180,000. */
  readonly timeoutMilliseconds?: number | undefined;
  /** For stopping. Default 5000. */
  readonly graceMilliseconds?: number;
}

/**
 * Starts a server and waits until it is ready.
 *
 * @throws LocalError `exited` or `not-ready`, and leaves nothing running
 */
export async function startServer(command: ServerCommand, readiness: Readiness): Promise<RunningServer> {
  const { isReady, timeoutMilliseconds, graceMilliseconds } = readiness;
  const server = new ServerProcess(command);
  const ready = () => server.ready(isReady, timeoutMilliseconds);
  try {
    await server.start();
    await ready();
  } catch (error) {
    await server.kill();
    throw error;
  }
  return { process: server, ready, stop: () => server.stop(graceMilliseconds) };
}

/** Whether a request gets a successful response within a second. */
export async function succeeds(url: string, request: RequestInit = {}): Promise<boolean> {
  try {
    const response = await fetch(url, { ...request, signal: AbortSignal.timeout(1000) });
    await response.arrayBuffer();
    return response.ok;
  } catch {
    return false;
  }
}
