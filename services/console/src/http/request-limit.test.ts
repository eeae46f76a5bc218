import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import { VirtualClock } from '@sluice/platform';
import { expect, test } from 'vitest';
import { RequestLimit } from './request-limit.ts';

class Response extends EventEmitter {
  destroyed = false;
  destroy() {
    this.destroyed = true;
    this.emit('close');
  }
  get raw(): ServerResponse {
    return this as unknown as ServerResponse;
  }
}

const busy = { status: 503, retryAfter: 1 };
const never = () => new Promise<string>(() => {});

test('more requests than 64 in progress are refused until one is read or disconnected', async () => {
  const limit = new RequestLimit(new VirtualClock(0));
  const responses = Array.from({ length: 64 }, () => new Response());
  for (const { raw } of responses) await limit.respond(raw, async () => '{}');
  const next = () => limit.respond(new Response().raw, async () => 'next');
  await expect(next()).rejects.toMatchObject(busy);
  responses[0]?.destroy();
  expect(await next()).toBe('next');
  await expect(next()).rejects.toMatchObject(busy);
});

test('a request whose client has disconnected is in progress until its work is done', async () => {
  const limit = new RequestLimit(new VirtualClock(0));
  for (let n = 0; n < 64; n++) {
    const response = new Response();
    void limit.respond(response.raw, never);
    response.destroy();
  }
  await expect(limit.respond(new Response().raw, async () => '{}')).rejects.toMatchObject(busy);
});

test('a failed request is in progress until its error is read', async () => {
  const limit = new RequestLimit(new VirtualClock(0));
  for (let n = 0; n < 200; n++) {
    const response = new Response();
    const failed = limit.respond(response.raw, () => Promise.reject(new Error('broken')));
    await expect(failed).rejects.toThrow('broken');
    response.destroy();
  }
});

test('responses that are not read are bounded by their size, and their clients are disconnected after a minute', async () => {
  const clock = new VirtualClock(0);
  const limit = new RequestLimit(clock);
  const responses = Array.from({ length: 3 }, () => new Response());
  const large = 'x'.repeat(12 * 1024 * 1024);
  for (const { raw } of responses) await limit.respond(raw, async () => large);
  let created = 0;
  const next = () =>
    limit.respond(new Response().raw, async () => {
      created++;
      return '{}';
    });
  await expect(next()).rejects.toMatchObject(busy);
  while (clock.step(59_999));
  await expect(next()).rejects.toMatchObject(busy);
  expect(created, 'no work for a response that would be refused').toBe(0);
  while (clock.step(60_000));
  expect(responses.map(({ destroyed }) => destroyed)).toEqual([true, true, true]);
  expect(await next()).toBe('{}');
});

test('a response that was created while others became too large is refused', async () => {
  const limit = new RequestLimit(new VirtualClock(0));
  const created = Promise.withResolvers<string>();
  const responses = Array.from({ length: 4 }, () => new Response());
  const bodies = responses.map(({ raw }) => limit.respond(raw, () => created.promise));
  created.resolve('x'.repeat(12 * 1024 * 1024));
  const results = await Promise.allSettled(bodies);
  expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'fulfilled', 'rejected']);
  responses[0]?.destroy();
  expect(await limit.respond(new Response().raw, async () => '{}')).toBe('{}');
});

test('a request whose client has disconnected meanwhile is over when its work is done', async () => {
  const clock = new VirtualClock(0);
  const limit = new RequestLimit(clock);
  for (let n = 0; n < 65; n++) {
    const response = new Response();
    const created = Promise.withResolvers<string>();
    const body = limit.respond(response.raw, () => created.promise);
    response.destroy();
    created.resolve('x'.repeat(1024 * 1024));
    await body;
  }
  expect(clock.nextAt()).toBeUndefined();
});
