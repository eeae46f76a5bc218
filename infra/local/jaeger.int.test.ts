import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Jaeger, startJaeger } from './src/index.ts';

const root = mkdtempSync(join(tmpdir(), 'sluice-jaeger-'));
let jaeger: Jaeger;

beforeAll(async () => {
  jaeger = await startJaeger({ directory: root });
});

afterAll(async () => {
  await jaeger?.stop();
  rmSync(root, { recursive: true, force: true });
});

const TRACE = '0af7651916cd43dd8448eb211c80319c';

/** Two spans of one trace in OTLP JSON. */
function delivery(now: number) {
  const nanoseconds = (milliseconds: number) => `${BigInt(milliseconds) * 1_000_000n}`;
  const span = (spanId: string, name: string, start: number, parentSpanId?: string) => ({
    traceId: TRACE,
    spanId,
    name,
    kind: 1,
    startTimeUnixNano: nanoseconds(start),
    endTimeUnixNano: nanoseconds(start + 5),
    ...(parentSpanId === undefined ? {} : { parentSpanId }),
  });
  const spans = [
    span('00000000000000a1', 'watch', now),
    span('00000000000000a2', 'write', now + 3, '00000000000000a1'),
  ];
  const attributes = [{ key: 'service.name', value: { stringValue: 'local-test' } }];
  return { resourceSpans: [{ resource: { attributes }, scopeSpans: [{ spans }] }] };
}

async function send(): Promise<void> {
  const response = await fetch(`${jaeger.otlpUrl}/v1/traces`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(delivery(Date.now())),
  });
  expect(response.status).toBe(200);
}

async function ask<T>(path: string): Promise<T> {
  const response = await fetch(`${jaeger.queryUrl}${path}`);
  return ((await response.json()) as { data: T }).data;
}

it('accepts spans over OTLP and returns them at once', async () => {
  await send();
  expect(await ask('/api/services')).toContain('local-test');
  const [trace] = await ask<{ spans: { operationName: string }[] }[]>(`/api/traces/${TRACE}`);
  expect(trace?.spans.map((span) => span.operationName).sort()).toEqual(['watch', 'write']);
});

it('restarts on the same ports after a kill, without its traces', async () => {
  const { otlpUrl, queryUrl } = jaeger;
  await jaeger.process.kill();
  await jaeger.process.start();
  await jaeger.ready();
  expect((await ask<string[] | null>('/api/services')) ?? []).not.toContain('local-test');
  await send();
  expect(await ask('/api/services')).toContain('local-test');
  expect(jaeger).toMatchObject({ otlpUrl, queryUrl });
});
