import { VirtualClock } from '@sluice/platform';
import { expect, test } from 'vitest';
import { CachedExposition } from './cached-exposition.ts';

function given() {
  const rendered: (string | undefined)[] = [];
  const clock = new VirtualClock(0);
  const expose = async (accept: string | undefined) => {
    rendered.push(accept);
    return { contentType: 'text/plain; version=0.0.4; charset=utf-8', body: `rendering ${rendered.length}` } as const;
  };
  return { rendered, clock, exposition: new CachedExposition({ expose }, clock) };
}

test('requests within a second share one rendering and its bytes', async () => {
  const { exposition, clock, rendered } = given();
  const [first, second] = await Promise.all([exposition.expose(undefined), exposition.expose('*/*')]);
  clock.skipTo(999);
  expect((await exposition.expose('text/plain')).body).toBe(first?.body);
  expect(second?.body).toBe(first?.body);
  expect(rendered).toHaveLength(1);
  clock.skipTo(1_000);
  expect((await exposition.expose(undefined)).body.toString()).toBe('rendering 2');
});

test('each format is rendered on its own', async () => {
  const { exposition, rendered } = given();
  const openMetrics = 'application/openmetrics-text; version=1.0.0';
  for (const accept of [openMetrics, undefined, openMetrics]) await exposition.expose(accept);
  expect(rendered).toEqual([openMetrics, undefined]);
});

test('a failed rendering is tried again after a second', async () => {
  const { clock } = given();
  let failures = 1;
  const expose = async () => {
    if (failures-- > 0) throw new Error('broken');
    return { contentType: 'text/plain; version=0.0.4; charset=utf-8', body: 'well' } as const;
  };
  const exposition = new CachedExposition({ expose }, clock);
  await expect(exposition.expose(undefined)).rejects.toThrow('broken');
  await expect(exposition.expose(undefined)).rejects.toThrow('broken');
  clock.skipTo(1_000);
  expect((await exposition.expose(undefined)).body.toString()).toBe('well');
});
