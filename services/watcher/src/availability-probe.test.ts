import { ApiError } from '@sluice/kubernetes';
import { silentLogger, VirtualClock } from '@sluice/platform';
import { advance } from '@sluice/platform/testing';
import type { Outage } from '@sluice/store';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { AvailabilityMonitor } from './availability-monitor.ts';
import { probeAvailability } from './availability-probe.ts';

const silent = new ApiError('no response from prod within 3 s', { kind: 'retry', status: 0, reason: 'Timeout' });

let clock: VirtualClock;
let availability: AvailabilityMonitor;
let outages: (Outage | null)[];
/** When a ping was sent. */
let pings: number[];
/** Whether the server was silent before each response that was reported. */
let responses: boolean[];
let answer: () => Promise<void>;
/** Whether other requests succeed while the server responds. */
let serves: boolean;
let stop: AbortController;
let running: Promise<void>;

beforeEach(() => {
  clock = new VirtualClock(0);
  outages = [];
  pings = [];
  serves = true;
  responses = [];
  answer = async () => {};
  stop = new AbortController();
  availability = new AvailabilityMonitor({ clock, logger: silentLogger, onAvailability: (one) => outages.push(one) });
  const reader = {
    ping: () => {
      pings.push(clock.now());
      return answer();
    },
  };
  const onResponse = (wasSilent: boolean) => {
    responses.push(wasSilent);
    if (serves) availability.answered();
  };
  running = probeAvailability({ reader, clock, availability, onResponse }, stop.signal);
});

afterEach(async () => {
  stop.abort();
  await running;
});

/** As a server does that takes connections and never answers. */
const afterThreeSeconds = () =>
  new Promise<void>((_, reject) => {
    clock.schedule(3_000, () => reject(silent));
  });

test('a server that sends events is not probed', async () => {
  for (let second = 0; second < 20; second++) {
    availability.answered();
    await advance(clock, 1_000);
  }
  expect(pings).toEqual([]);
});

test('a silent one is probed every five seconds, and its answers are no news', async () => {
  await advance(clock, 16_000);
  expect([pings, responses, outages]).toEqual([[5_000, 10_000, 15_000], [], []]);
});

test('one that does not answer is out within ten seconds of its last answer, since that answer', async () => {
  await advance(clock, 1_000);
  availability.answered();
  answer = afterThreeSeconds;
  await advance(clock, 8_000);
  expect(pings).toEqual([6_000]);
  expect(outages).toEqual([{ since: 1_000, reason: 'no answer in time' }]);
});

test('it is probed each second, until it answers', async () => {
  answer = afterThreeSeconds;
  await advance(clock, 20_000);
  expect(pings).toEqual([5_000, 9_000, 13_000, 17_000]);
  answer = async () => {};
  await advance(clock, 1_000);
  expect([responses, outages.at(-1)]).toEqual([[true], null]);
  await advance(clock, 4_000);
  expect(pings).toEqual([5_000, 9_000, 13_000, 17_000, 21_000]);
});

test('when requests fail, its next answer is news', async () => {
  await advance(clock, 1_000);
  availability.failed(new ApiError('refused', { kind: 'retry', status: 0, reason: 'ECONNREFUSED' }));
  await advance(clock, 4_500);
  expect([pings, responses]).toEqual([[5_000], [false]]);
});

test('open connections are replaced once, however long requests fail after that', async () => {
  answer = afterThreeSeconds;
  await advance(clock, 8_000);
  answer = async () => {};
  serves = false;
  await advance(clock, 3_500);
  expect(responses).toEqual([true, false, false]);
});

test('a probe that fails after an event has arrived says nothing', async () => {
  answer = afterThreeSeconds;
  await advance(clock, 7_000);
  availability.answered();
  await advance(clock, 4_000);
  expect([pings, outages]).toEqual([[5_000], []]);
});
