import type { Message } from '@sluice/messages';
import { VirtualClock } from '@sluice/platform';
import { beforeEach, expect, test } from 'vitest';
import { History } from '../history/history.ts';
import { anOutcome, aPlan, pod, service, sliceOf, snapshot, toAppend } from '../testing/records.ts';
import { ThreadBudget } from '../thread-budget.ts';
import type { Update } from '../view/schemas.ts';
import { ServiceIndex } from '../view/service-index.ts';
import { UpdatePublisher } from './update-publisher.ts';

let clock: VirtualClock;
let history: History;
let publisher: UpdatePublisher;
let published: Update[];

beforeEach(() => {
  clock = new VirtualClock(10_000);
  history = new History({ clock });
  const budget = new ThreadBudget(clock, 1);
  const index = new ServiceIndex({ history, nameOf: () => 'prod', budget, now: () => clock.now() });
  publisher = new UpdatePublisher(history, index, clock, budget);
  published = [];
});

const listen = () => publisher.subscribe((update) => published.push(update));
const run = (until: number) => {
  while (clock.step(until));
};
const add = (name: string, message: Message) => {
  const key = { cluster: 'c', namespace: 'shop', service: name };
  const topic = message.kind === 'mutations' ? 'mutations' : 'changes';
  history.add(topic, 0, { ...toAppend({ ...message, key } as Message), key: `c/shop/${name}` });
};
/** Adds a Service with a write that completed at this time. */
function write(name: string, number: number, at: number): void {
  const object = sliceOf('web-1', { version: '', ready: true });
  if (number === 1) add(name, snapshot(1, at - 20, [service({ name }), pod('web-1', {})]));
  add(name, aPlan(number, at - 10, [{ verb: 'create', object }]));
  add(name, anOutcome(number, at, at - 20, [{ verb: 'create', version: String(10 + number) }]));
}
const summaryOf = ({ services, changes }: Update) => [
  services.map(({ name }) => name).join(' '),
  changes.map(({ name, at }) => `${name} ${at}`).join(' '),
];

test('changed Services and new writes are published together, at most four times per second', () => {
  listen();
  write('web', 1, 10_000);
  write('db', 1, 9_990);
  run(10_249);
  expect(published).toEqual([]);
  run(10_250);
  expect(published.map(summaryOf)).toEqual([['web db', 'db 9990 web 10000']]);
  run(20_000);
  expect(published).toHaveLength(1);
});

test('a write is published once; of a Service that was not published before, those of the last second', () => {
  listen();
  write('web', 1, 9_251);
  write('old', 1, 9_250);
  run(10_250);
  expect(published.map(summaryOf)).toEqual([['web old', 'web 9251']]);
  write('web', 2, 10_300);
  run(10_500);
  expect(published.map(summaryOf).at(-1)).toEqual(['web', 'web 10300']);
});

test('nothing is published while nobody listens', () => {
  const stops = [listen(), listen()];
  write('web', 1, 10_000);
  for (const stop of stops) stop();
  expect(clock.nextAt()).toBeUndefined();
  write('db', 1, 10_000);
  run(20_000);
  expect(published).toEqual([]);
  listen();
  write('cart', 1, 20_000);
  run(21_000);
  expect(published.map(summaryOf)).toEqual([['cart', 'cart 20000']]);
});

test('one of two listeners may leave', () => {
  const stop = listen();
  listen();
  stop();
  write('web', 1, 10_000);
  run(11_000);
  expect(published).toHaveLength(1);
});

test('many Services are published in several updates', () => {
  listen();
  for (let n = 0; n < 501; n++) add(`web-${n}`, snapshot(1, 10_000, []));
  run(11_000);
  expect(published.map(({ services }) => services.length)).toEqual([500, 1]);
});
