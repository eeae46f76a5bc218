import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { fetchTrace, jaegerTraces } from './fetch-trace.ts';

const id = 'a'.repeat(32);
const span = { traceID: id, spanID: '1', operationName: 'decide', startTime: 1_000, duration: 1_000, processID: 'p' };
const trace = { traceID: id, spans: [span], processes: { p: { serviceName: 'sluice-watcher' } } };

/** URL of a server that answers as Jaeger should, or not. */
async function jaeger(answer: RequestListener): Promise<string> {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(() => resolve()));
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test('reads a trace from the query API below the URL, with or without a slash at its end', async () => {
  const asked: unknown[] = [];
  const url = await jaeger((request, response) => {
    asked.push(request.url);
    response.end(JSON.stringify({ data: [trace] }));
  });
  expect(await fetchTrace(`${url}/jaeger//`, id)).toMatchObject({ traceId: id, spans: [{ name: 'decide' }] });
  expect(await jaegerTraces(url)?.(id)).toMatchObject({ traceId: id });
  expect(asked).toEqual([`/jaeger/api/traces/${id}`, `/api/traces/${id}`]);
  expect(jaegerTraces(undefined)).toBeUndefined();
});

test('an unknown trace is null', async () => {
  const url = await jaeger((_, response) => response.writeHead(404).end('not found'));
  expect(await fetchTrace(url, id)).toBeNull();
});

test.each<[string, RequestListener]>([
  ['returned HTTP status 500', (_, response) => response.writeHead(500).end('{}')],
  ['returned HTTP status 201', (_, response) => response.writeHead(201).end('{}')],
  ['is not a Jaeger query API: the response is not JSON', (_, response) => response.end('<html>')],
  ['cannot reach', (_, response) => response.writeHead(302, { location: '/' }).end()],
  ['cannot reach', (request) => request.socket.destroy()],
])('an answer that is no trace: %s', async (message, answer) => {
  await expect(fetchTrace(await jaeger(answer), id)).rejects.toThrow(message);
});

test('a server that does not answer in time', async () => {
  const url = await jaeger(() => {});
  await expect(fetchTrace(url, id, 1)).rejects.toThrow(`no response from ${url} within 0.001 s`);
});

test('a trace that is too large is not read to its end', async () => {
  const chunk = Buffer.alloc(1024 * 1024, ' ');
  let sent = 0;
  const url = await jaeger((_, response) => {
    const send = () => {
      while (sent < 64 && response.write(chunk)) sent++;
    };
    response.on('drain', send);
    send();
  });
  await expect(fetchTrace(url, id)).rejects.toThrow(`the trace at ${url} is larger than 16 MiB`);
  expect(sent).toBeLessThan(64);
});
