import { type BusRecord, LogTruncatedError } from '@sluice/bus';
import { expect, test } from 'vitest';
import { LossyBus } from './lossy-bus.ts';

const record = (id: string): BusRecord => ({ key: 'key', id, headers: {}, payload: new Uint8Array(1) });

test.each([0, 2 ** 40])('a log that begins at %d and is refilled does not continue for its reader', async (begin) => {
  const bus = new LossyBus(1, { dropsRepeated: false, dropsReleased: true });
  const log = bus.log('changes', 0);
  log.startAt(begin);
  await bus.append('changes', 0, [record('a'), record('b')]);
  const { offset, id, streamId } = log.end();
  expect(offset).toBe(begin + 2);

  log.recreate();
  log.startAt(offset - 1);
  await bus.append('changes', 0, [record('c'), record('d')]);

  expect(log.end().offset).toBeGreaterThan(offset);
  await expect(bus.read('changes', 0, { offset, id, streamId }).next(1)).rejects.toThrow(LogTruncatedError);
});
