import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { RawObject } from '@sluice/kubernetes';
import type { ServerWatchEvent, Watch } from '../server/watch.ts';

/**
 * Writes a watch as JSON lines until it ends or the client disconnects. It reads no further batch while the client does
 * not accept bytes, so a slow client holds one batch in memory and gets 410 when it falls too far behind.
 */
export async function streamWatch(
  response: ServerResponse,
  watch: Watch,
  present: (object: RawObject) => RawObject,
): Promise<void> {
  response.on('close', () => watch.close());
  response.writeHead(200, { 'content-type': 'application/json' });
  response.flushHeaders();
  for (;;) {
    const events = await watch.next();
    if (events === undefined || response.destroyed) break;
    const text = events.map((event) => `${JSON.stringify(shown(event, present))}\n`).join('');
    if (!response.write(text)) await drained(response);
  }
  response.end();
}

function shown(event: ServerWatchEvent, present: (object: RawObject) => RawObject): unknown {
  if (event.type === 'ERROR' || event.type === 'BOOKMARK') return event;
  return { type: event.type, object: present(event.object) };
}

async function drained(response: ServerResponse): Promise<void> {
  if (response.destroyed || !response.writableNeedDrain) return;
  const settled = new AbortController();
  const events = ['drain', 'close'].map((name) => once(response, name, { signal: settled.signal }).catch(() => []));
  await Promise.race(events);
  settled.abort();
}
