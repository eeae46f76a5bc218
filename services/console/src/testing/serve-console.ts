import { createServer, request as httpRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Message } from '@sluice/messages';
import { silentLogger, VirtualClock } from '@sluice/platform';
import { onTestFinished } from 'vitest';
import { History } from '../history/history.ts';
import { type ConsoleOptions, createConsole } from '../http/create-console.ts';
import { anOutcome, aPlan, pod, podChange, service, sliceOf, snapshot, toAppend, topicOf } from './records.ts';

/** A record with a trace context. */
export const traced = (message: Message) => ({
  ...toAppend(message),
  headers: { traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01' },
});

export interface Answer {
  readonly status: number;
  readonly headers: NodeJS.Dict<string | string[]>;
  readonly body: string;
}

/** A console with one Service, whose only Pod was ready and is not ready now. Closed at the end of the test. */
export async function serveConsole(given: Partial<ConsoleOptions> = {}) {
  const clock = new VirtualClock(500);
  const history = new History({ clock });
  const add = (message: Message) => history.add(topicOf(message), 0, traced(message));
  add(snapshot(1, 1_000, [service(), pod('web-1', { ready: true })]));
  add(aPlan(1, 1_010, [{ verb: 'create', object: sliceOf('web-1', { version: '', ready: true }) }]));
  add(anOutcome(1, 1_020, 1_000, [{ verb: 'create', version: '11' }]));
  clock.step(5_010);
  add(podChange(2, 5_000, pod('web-1', { ready: false })));
  add(aPlan(2, 5_001, [{ verb: 'update', object: sliceOf('web-1', { version: '11', ready: false }) }]));
  add(anOutcome(2, 5_004, 5_000, [{ verb: 'update', version: '12' }]));
  clock.step(10_000);
  const clusters = [
    { identity: 'cluster-uid', name: 'prod', version: 'v1.36.3', server: 'https://prod', state: 'synced' },
  ];
  const app = await createConsole({
    history,
    sources: { clusters: () => clusters },
    access: { hosts: [] },
    clock,
    logger: silentLogger,
    version: '0.1.0',
    ...given,
  });
  const server = createServer((request, response) => app.handle(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  onTestFinished(async () => {
    await app.close();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  const get = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
    new Promise<Answer>((resolve, reject) => {
      httpRequest({ host: '127.0.0.1', port, path, method, headers }, (response) => {
        let body = '';
        response.setEncoding('utf8').on('data', (chunk) => {
          body += chunk;
        });
        response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, body }));
      })
        .on('error', reject)
        .end();
    });
  const json = async (path: string) => JSON.parse((await get(path)).body);
  /** Status, message and hint of an error. */
  const error = async (path: string) => {
    const { status, body } = await get(path);
    return [status, JSON.parse(body).error, JSON.parse(body).hint];
  };
  return { app, get, json, error, add, clock, port, history };
}
