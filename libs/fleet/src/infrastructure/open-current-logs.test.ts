import { type Bus, BusSetupError, MemoryBus } from '@sluice/bus';
import { recordingLogger } from '@sluice/platform/testing';
import { MemoryDocument } from '@sluice/store';
import { expect, test } from 'vitest';
import { readGenerations } from '../roles/fleet-generation.ts';
import { formatGenerations, type PartitionGenerations, parseGenerations } from '../roles/generations.ts';
import { openCurrentLogs } from './open-current-logs.ts';

/** A bus server with these logs: the number of partitions by generation. Opening creates those that are missing. */
function server(...logs: readonly (number | undefined)[]) {
  const existing = new Map(logs.entries());
  const other = async (generation: number, partitions: number): Promise<Bus> => {
    const found = existing.get(generation) ?? partitions;
    existing.set(generation, found);
    if (found !== partitions) throw new BusSetupError('BUS_OTHER_PARTITIONS', `${found}, want ${partitions}`);
    return new MemoryBus({ partitions });
  };
  return { existing, other };
}

async function open(stored: PartitionGenerations | null, configured: number, logs = server()) {
  const document = new MemoryDocument();
  if (stored !== null) await document.replace(null, formatGenerations(stored));
  const known = readGenerations(document, configured).then((generations) => ({ generations, document }));
  const first = async (expected: Promise<void>) => {
    await expected;
    return logs.other(0, configured);
  };
  const logger = recordingLogger();
  const opened = await openCurrentLogs(known, configured, { first, other: logs.other }, logger);
  return { ...opened, logger, stored: parseGenerations((await document.read()) ?? '') };
}

const generation = (partitions: number, since: number) => ({ partitions, since });

test('a new fleet has the configured number of partitions', async () => {
  const { bus, generations, stored } = await open(null, 64);
  expect(bus.partitions).toBe(64);
  expect(generations).toEqual([generation(64, 0)]);
  expect(stored).toEqual(generations);
});

test('a fleet keeps to the partitions in the store, and creates no logs for the configured ones', async () => {
  const logs = server(64);
  const { bus, generations } = await open([generation(64, 0), generation(256, 7)], 64, logs);
  expect(bus.partitions).toBe(256);
  expect(generations).toHaveLength(2);
  expect([...logs.existing]).toEqual([
    [0, 64],
    [1, 256],
  ]);
  const configuredNew = server(64, 256);
  expect((await open([generation(64, 0), generation(256, 7)], 256, configuredNew)).bus.partitions).toBe(256);
});

test('a repartitioned fleet whose store was wiped works on, in the logs with its number of partitions', async () => {
  const { bus, generations, stored, logger } = await open(null, 256, server(64, 256));
  expect(bus.partitions).toBe(256);
  expect(generations).toEqual([generation(256, 0), generation(256, 0)]);
  expect(stored).toEqual(generations);
  expect(logger.fields('warn')).toEqual([{ partitions: 256, generation: 1 }]);
});

test('a fleet whose store was wiped creates logs if none has its number of partitions', async () => {
  const logs = server(64, 256, 64);
  const { bus, generations } = await open(null, 32, logs);
  expect(bus.partitions).toBe(32);
  expect(generations).toHaveLength(4);
  expect(logs.existing.get(3)).toBe(32);
});

test('logs that somebody created with another number of partitions are an error for a fleet that was repartitioned', async () => {
  const stored: PartitionGenerations = [generation(64, 0), generation(256, 7)];
  await expect(open(stored, 64, server(64, 128))).rejects.toThrow('128, want 256');
});
