import type { ApiRequest, ApiResponse } from '@sluice/kubernetes';
import { ConnectionClosedError, type ServerConnection } from '../faulty-connection.ts';
import { LeaseApi } from '../lease-api.ts';

const identityPath = '/api/v1/namespaces/kube-system';

/** A cluster as its API server shows it. */
export interface Server {
  readonly identity: string;
  readonly leases: LeaseApi;
}

/** An address whose API server another cluster may get. */
export class Address {
  readonly #now: () => number;
  #servers = 0;
  #server: Server;
  #isDown = false;
  /** Increases when all connections are closed. */
  #connections = 0;
  /** Processes whose requests have failed since nothing answers. */
  readonly #noticed = new Set<string>();

  constructor(now: () => number) {
    this.#now = now;
    this.#server = this.#nextServer();
  }

  get server(): Server {
    return this.#server;
  }

  /** Nothing answers, and all connections are closed. */
  goDown(): void {
    this.#isDown = true;
    this.#connections += 1;
    this.#noticed.clear();
  }

  /**
   * Another cluster, or the same one, answers. Another one does only if all of these processes have noticed: until a request fails, a process
   * may take the address for what it was for up to 30 s.
   */
  comeUp(isAnother: boolean, processes: readonly string[] = []): void {
    if (!this.#isDown) return;
    this.#isDown = false;
    if (isAnother && processes.every((name) => this.#noticed.has(name))) this.#server = this.#nextServer();
  }

  /** A connection of the process. */
  connect(process: string): ServerConnection {
    const connection = this.#connections;
    const isRefused = this.#isDown;
    const assertOpen = () => {
      if (!isRefused && !this.#isDown && connection === this.#connections) return;
      throw new ConnectionClosedError();
    };
    return {
      assertOpen,
      onClosed: () => this.#noticed.add(process),
      handle: (request) => {
        assertOpen();
        return this.#handle(request);
      },
    };
  }

  #handle(request: ApiRequest): ApiResponse {
    const { path } = request;
    if (path.includes('/leases')) return this.#server.leases.handle(request);
    const body =
      path === identityPath
        ? { metadata: { name: 'kube-system', uid: this.#server.identity } }
        : { items: [], metadata: {} };
    return { status: 200, headers: { date: new Date(this.#now()).toUTCString() }, body };
  }

  #nextServer(): Server {
    const identity = `cluster-${this.#servers++}`;
    return { identity, leases: new LeaseApi(this.#now, identity) };
  }
}

export const readIdentity = (signal: AbortSignal): ApiRequest => ({ method: 'GET', path: identityPath, signal });
