import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { describe, expect, test } from 'vitest';
import { counted } from './counted.ts';
import { distributed } from './distributed.ts';
import { Exposition } from './exposition.ts';
import { shown } from './shown.ts';

/** What one registry writes for its own metric and another for ours, which were told the same. */
async function both(tell: (theirs: Registry, ours: Exposition) => void): Promise<readonly [string, string]> {
  const registries = [new Registry(), new Exposition()] as const;
  tell(...registries);
  return [await registries[0].metrics(), await registries[1].metrics()];
}

describe('are written as prom-client writes its own', () => {
  const about = { name: 'plans_total', help: 'Plans', labelNames: ['controller', 'status'] };

  test('a counter', async () => {
    const [theirs, ours] = await both((registry, own) => {
      const [counter, series] = [new Counter({ ...about, registers: [registry] }), counted(own, about)];
      for (const [controller, status, by] of [
        ['endpoints', 'applied', 1],
        ['endpoints', 'conflict', 2],
        ['endpoints', 'applied', 3],
        ['a "b"\\\n', '', 0],
      ] as const) {
        counter.inc({ controller, status }, by);
        series.of(controller, status).inc(by);
      }
    });
    expect(ours).toBe(theirs);
    expect(ours).toContain('plans_total{controller="endpoints",status="applied"} 4');
  });

  test.each([{ buckets: [10e-9, 0.001, 1, 300] }, {}])('a histogram, %j', async (given) => {
    const [theirs, ours] = await both((registry, own) => {
      const histogram = new Histogram({ ...about, ...given, registers: [registry] });
      const series = distributed(own, { ...about, ...given });
      for (const value of [0, 10e-9, 0.0011, 0.5, 1, 300, 301, -1]) {
        histogram.observe({ controller: 'endpoints', status: 'applied' }, value);
        series.of('endpoints', 'applied').observe(value);
      }
      histogram.zero({ controller: 'b', status: '' });
      series.of('b', '');
    });
    expect(ours).toBe(theirs);
    expect(ours).toContain('plans_total_bucket{le="+Inf",controller="endpoints",status="applied"} 8');
  });

  test('a gauge that is asked for, the last value of each', async () => {
    const values = [
      ['endpoints', 'applied', 1],
      ['endpoints', 'conflict', -0.5],
      ['endpoints', 'applied', 3e21],
      ['a "b"\\\n', '', 0],
    ] as const;
    const [theirs, ours] = await both((registry, own) => {
      const gauge = new Gauge({ ...about, registers: [registry] });
      for (const [controller, status, value] of values) gauge.set({ controller, status }, value);
      shown(own, about, (show) => {
        for (const [controller, status, value] of values) show(value, controller, status);
      });
    });
    expect(ours).toBe(theirs);
    expect(ours).toContain('plans_total{controller="endpoints",status="applied"} 3e+21');
  });

  test('both without labels, before anything has happened', async () => {
    const plain = { name: 'c', help: 'h', labelNames: [] };
    const [theirs, ours] = await both((registry, own) => {
      new Counter({ ...plain, registers: [registry] });
      new Histogram({ ...plain, name: 'd', registers: [registry] });
      counted(own, plain);
      distributed(own, { ...plain, name: 'd' });
    });
    expect(ours).toBe(theirs);
    expect(ours).toContain('d_count 0');
  });
});

test('what prom-client counts is written as well', async () => {
  const exposition = new Exposition();
  counted(exposition, { name: 'ours', help: 'h', labelNames: [] }).of().inc();
  new Counter({ name: 'theirs', help: 'h', registers: [exposition] }).inc(2);
  expect(await exposition.metrics()).toBe(
    '# HELP ours h\n# TYPE ours counter\nours 1\n\n# HELP theirs h\n# TYPE theirs counter\ntheirs 2\n',
  );
});

test('there is one metric of a name', () => {
  const exposition = new Exposition();
  counted(exposition, { name: 'c', help: 'h', labelNames: [] });
  expect(() => shown(exposition, { name: 'c', help: 'h', labelNames: [] }, () => {})).toThrow(
    'there are two metrics c',
  );
});

test('two scrapes tell the same when nothing happened between them', async () => {
  const registry = new Exposition();
  counted(registry, { name: 'c', help: 'h', labelNames: ['a'] })
    .of('x')
    .inc();
  distributed(registry, { name: 'd', help: 'h', labelNames: ['a'] })
    .of('x')
    .observe(1);
  expect(await registry.metrics()).toBe(await registry.metrics());
});

test('what cannot be counted is refused', () => {
  const registry = new Exposition();
  const seconds = distributed(registry, { name: 'd', help: 'h', labelNames: ['a'] });
  expect(() => seconds.of('x', 'y')).toThrow('1 labels (a) cannot have 2 values');
  expect(() => seconds.of('x').observe(Number.NaN)).toThrow('NaN cannot be observed');
});
