import { resolve } from '@sluice/fleet/configuration/testing';
import { expect, test } from 'vitest';
import { historyCheck } from './history-check.ts';

const found = (file: string) => historyCheck(resolve({ file }).configuration);

test('an in-memory bus keeps history since the process started', () => {
  expect(found('{}')).toMatchObject({
    result: 'ok',
    detail: expect.stringMatching(/since process start, at most 24h/),
  });
});

test('the shorter retention of bus and console applies; a shorter one of the bus causes a warning', () => {
  const bus = (more = '') => `bus: { kind: nats, servers: [nats://127.0.0.1:4222]${more} }\n`;
  expect(found(bus())).toMatchObject({ result: 'ok', detail: '24h, at most 128 MiB per console' });
  expect(found(`${bus()}console: { retention: 1h }\n`)).toMatchObject({
    result: 'ok',
    detail: expect.stringMatching(/^1h,/),
  });
  expect(found(bus(', maxAge: { changes: 2h }'))).toMatchObject({
    result: 'warning',
    detail: expect.stringMatching(/^2h, .* limited by the bus, although console.retention is 24h$/),
    advice: 'raise bus.maxAge.changes, or lower console.retention',
  });
});
