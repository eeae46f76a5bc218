import type { Server } from 'node:http';
import type { Socket } from 'node:net';

interface ConnectionLimits {
  readonly total: number;
  /** A proxy has one address for all its users. */
  readonly perAddress: number;
  /** Requests of one connection that are in progress at a time. A client that waits for each response needs one. */
  readonly pipelined: number;
}

const defaultLimits: ConnectionLimits = { total: 512, perAddress: 128, pipelined: 4 };
/** A connection on which nothing moves for this long is closed, in milliseconds. */
const idleMs = 60_000;
/** Time for the headers, and for all of a request. */
const headersMs = 10_000;
const requestMs = 30_000;

/**
 * Bounds what clients can occupy: connections, requests in progress on one connection, and the time of a connection on which nothing
 * moves. A new connection beyond a limit closes the oldest one of the address that has most, so that probes get through a flood.
 */
export function limitConnections(server: Server, limits: ConnectionLimits = defaultLimits): void {
  const byAddress = new Map<string, Set<Socket>>();
  let total = 0;
  const inProgress = new WeakMap<Socket, number>();
  server.headersTimeout = headersMs;
  server.requestTimeout = requestMs;
  server.timeout = idleMs;
  server.prependListener('connection', (socket: Socket) => {
    const address = socket.remoteAddress ?? '';
    const own = byAddress.get(address) ?? new Set<Socket>();
    byAddress.set(address, own.add(socket));
    total++;
    socket.once('close', () => {
      total--;
      own.delete(socket);
      if (own.size === 0 && byAddress.get(address) === own) byAddress.delete(address);
    });
    if (own.size > limits.perAddress) closeOldest(own);
    else if (total > limits.total) closeOldest(largest(byAddress.values()));
  });
  server.prependListener('request', ({ socket }, response) => {
    const count = (inProgress.get(socket) ?? 0) + 1;
    inProgress.set(socket, count);
    response.once('close', () => inProgress.set(socket, (inProgress.get(socket) ?? 1) - 1));
    if (count > limits.pipelined) socket.destroy();
  });
}

function closeOldest(sockets: ReadonlySet<Socket> | undefined): void {
  for (const socket of sockets ?? []) {
    if (socket.destroyed) continue;
    socket.destroy();
    return;
  }
}

function largest(all: Iterable<ReadonlySet<Socket>>): ReadonlySet<Socket> | undefined {
  let found: ReadonlySet<Socket> | undefined;
  for (const one of all) if (one.size > (found?.size ?? 0)) found = one;
  return found;
}
