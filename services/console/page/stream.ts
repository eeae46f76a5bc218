import { useEffect, useState } from 'preact/hooks';
import type { Update } from '../src/view/schemas.ts';

/** State of the stream of updates. `lostAt` is in milliseconds since the Unix epoch. */
export type Connection = 'connecting' | 'open' | { readonly lostAt: number };

/** Delay before reopening a stream that the browser has given up. */
const reopenMs = 3_000;

const updates = emitter<Update>();
const connections = emitter<Connection>();
const reconnects = emitter<undefined>();
let connection: Connection = 'connecting';

/** Opens the only stream of the page, which stays open as long as the page. */
export function openStream(): void {
  const source = new EventSource('/api/v1/stream');
  source.addEventListener('open', () => setConnection('open'));
  source.addEventListener('error', () => {
    if (typeof connection === 'string') setConnection({ lostAt: Date.now() });
    // The browser reconnects after a lost connection, but not after an unexpected response.
    if (source.readyState === EventSource.CLOSED) setTimeout(openStream, reopenMs);
  });
  source.addEventListener('update', (event) => updates.emit(JSON.parse(event.data) as Update));
}

function setConnection(now: Connection): void {
  const wasLost = typeof connection === 'object';
  connection = now;
  connections.emit(now);
  if (wasLost) reconnects.emit(undefined);
}

export function useUpdates(listener: (update: Update) => void, dependencies: readonly unknown[]): void {
  useEffect(() => updates.subscribe(listener), dependencies as unknown[]);
}

export function useConnection(): Connection {
  const [state, setState] = useState<Connection>(connection);
  useEffect(() => {
    setState(connection);
    return connections.subscribe((now) => setState(now));
  }, []);
  return state;
}

/** Calls back when a lost connection is open again: updates were missed. */
export function useReconnect(listener: () => void): void {
  useEffect(() => reconnects.subscribe(listener), []);
}

function emitter<T>() {
  const listeners = new Set<(value: T) => void>();
  return {
    emit(value: T): void {
      for (const listener of [...listeners]) listener(value);
    },
    subscribe(listener: (value: T) => void): () => void {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}
