import { type ExportResult, ExportResultCode } from '@opentelemetry/core';
import type { ReadableSpan, SpanExporter } from '@opentelemetry/sdk-trace';
import { seededRandom, VirtualClock } from '@sluice/platform';
import { type RecordingLogger, recordingLogger } from '@sluice/platform/testing';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Tracer } from '../traces/tracer.ts';
import { OtlpTracing } from './otlp-tracing.ts';

type Callback = (result: ExportResult) => void;

let exported: ReadableSpan[][];
let callbacks: Callback[];
let answer: (callback: Callback) => void;
let logger: RecordingLogger;
let clock: VirtualClock;
let tracing: OtlpTracing;
let tracer: Tracer;

const succeed = (callback: Callback) => callback({ code: ExportResultCode.SUCCESS });
const fail = (callback: Callback) =>
  callback({ code: ExportResultCode.FAILED, error: new Error('connection refused') });

beforeEach(() => {
  exported = [];
  callbacks = [];
  logger = recordingLogger();
  answer = succeed;
  clock = new VirtualClock(0);
});

afterEach(async () => {
  vi.unstubAllEnvs();
  const closed = tracing.close(0);
  clock.step(clock.now() + 1);
  await closed;
});

function start(): void {
  const exporter: SpanExporter = {
    export(spans, callback) {
      exported.push(spans);
      answer(callback);
    },
    shutdown: () => Promise.resolve(),
  };
  tracing = new OtlpTracing(
    {
      ...{
        endpoint: 'http://collector.test/key-in-path/v1/traces',
        ratio: 1,
        slowMs: 1_000,
        fleet: 'f',
        member: 'm',
        version: '1',
      },
      ...{ systems: { messaging: 'memory', store: 'memory' }, clock, random: seededRandom(1), logger },
    },
    exporter,
  );
  tracer = tracing.tracer('sluice-watcher');
}

function record(spans: number, attributes: Readonly<Record<string, string>> = {}): void {
  for (let i = 0; i < spans; i++) {
    const context = tracer.startTrace();
    tracer.record({ name: 's', kind: 'internal', context, parent: null, startedAt: 1, endedAt: 2, attributes });
  }
}

test('a span has the name of its cluster beside its UID, once it is known', async () => {
  start();
  record(1, { 'k8s.cluster.uid': 'uid-1' });
  tracing.nameClusters(new Map([['uid-1', 'west']]));
  record(1, { 'k8s.cluster.uid': 'uid-1' });
  record(1, { 'k8s.cluster.uid': 'uid-2' });
  record(1);
  await tracing.flush(1_000);
  expect(exported.flat().map(({ attributes }) => attributes)).toEqual([
    { 'k8s.cluster.uid': 'uid-1' },
    { 'k8s.cluster.uid': 'uid-1', 'k8s.cluster.name': 'west' },
    { 'k8s.cluster.uid': 'uid-2' },
    {},
  ]);
});

test('exports spans in batches, with the resource of their service', async () => {
  start();
  record(3);
  expect(exported).toEqual([]);
  await tracing.flush(1_000);
  expect(exported.map((batch) => batch.length)).toEqual([3]);
  expect(exported[0]?.[0]?.resource.attributes).toMatchObject({
    ...{ 'service.name': 'sluice-watcher', 'service.namespace': 'f', 'service.instance.id': 'm' },
    ...{ 'service.version': '1', 'telemetry.sdk.name': 'opentelemetry' },
  });
  expect(tracing.counts).toEqual({ exported: 3, queueFull: 0, failed: 0 });
});

test("honours OpenTelemetry's variables", async () => {
  vi.stubEnv('OTEL_SERVICE_NAME', 'mine');
  vi.stubEnv('OTEL_RESOURCE_ATTRIBUTES', 'deployment.environment.name=test%20site,service.namespace=ns');
  vi.stubEnv('OTEL_BSP_MAX_EXPORT_BATCH_SIZE', '2');
  start();
  record(2);
  expect(exported.map((batch) => batch.length)).toEqual([2]);
  expect(exported[0]?.[0]?.resource.attributes).toMatchObject({
    ...{ 'service.name': 'mine', 'service.namespace': 'ns', 'deployment.environment.name': 'test site' },
  });
});

test('drops and counts spans when the queue is full', async () => {
  vi.stubEnv('OTEL_BSP_MAX_QUEUE_SIZE', '4');
  vi.stubEnv('OTEL_BSP_MAX_EXPORT_BATCH_SIZE', '2');
  answer = (callback) => callbacks.push(callback);
  start();
  // Two are being exported, four wait, one is dropped.
  record(7);
  expect(tracing.counts).toEqual({ exported: 0, queueFull: 1, failed: 0 });
  answer = succeed;
  for (const callback of callbacks) succeed(callback);
  await tracing.flush(1_000);
  expect(tracing.counts).toEqual({ exported: 6, queueFull: 1, failed: 0 });
});

test('counts spans of failed exports, and logs the first failure and the recovery', async () => {
  start();
  for (const outcome of [fail, fail, succeed]) {
    answer = outcome;
    record(1);
    await tracing.flush(1_000);
  }
  expect(tracing.counts).toEqual({ exported: 1, queueFull: 0, failed: 2 });
  expect(logger.lines).toEqual([
    {
      ...{ level: 'warn', message: 'trace export failed; dropping spans' },
      fields: { endpoint: 'http://collector.test', reason: 'connection refused' },
    },
    {
      ...{ level: 'info', message: 'trace export succeeds again' },
      fields: { endpoint: 'http://collector.test' },
    },
  ]);
});

test('gives up a flush at its limit', async () => {
  answer = () => {};
  start();
  record(1);
  const flushed = tracing.flush(1_000);
  clock.step(clock.now() + 1_000);
  await flushed;
  expect(tracing.counts.exported).toBe(0);
});

test('gives up on a collector that does not answer, and logs how many spans were not exported', async () => {
  answer = () => {};
  start();
  record(3);
  const closed = tracing.close(1_000);
  clock.step(clock.now() + 1_000);
  expect(await closed).toBe('abandoned');
  expect(logger.lines.at(-1)).toMatchObject({
    ...{ message: expect.stringContaining('spans were not exported'), fields: { dropped: 3 } },
  });
});

test('logs nothing on close if every span was exported', async () => {
  start();
  record(3);
  expect(await tracing.close(1_000)).toBe('closed');
  expect(logger.lines).toEqual([]);
});
