import { type Logger, silentLogger, VirtualClock } from '@sluice/platform';
import { advance } from '@sluice/platform/testing';
import { type Leases, MemoryLeases } from '@sluice/store';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { BusClaim } from './bus-claim.ts';

/** A bus whose identity changes when it is created again. */
interface TestBus {
  identity: string;
  /** It does not answer. */
  isDown?: boolean;
}

let clock: VirtualClock;
let leases: Pick<Leases, 'heartbeat' | 'state'>;
let stopping: AbortController[];
let warnings: string[];

beforeEach(() => {
  clock = new VirtualClock(Date.parse('2026-01-01T00:00:00Z'));
  leases = new MemoryLeases(clock);
  [stopping, warnings] = [[], []];
});

afterEach(() => {
  for (const stop of stopping) stop.abort();
});

const logger: Logger = { ...silentLogger, warn: (message) => void warnings.push(message) };

function claimOf(bus: TestBus): BusClaim {
  const beginning = async () => {
    if (bus.isDown) throw new Error('no answer');
    return { offset: 0, id: '', streamId: bus.identity };
  };
  return new BusClaim({ fleet: 'sluice', bus: { beginning }, leases, clock, logger });
}

interface Process {
  /** `starting`, `runs`, `stopped`, or why it was refused. */
  state: string;
  stop(): void;
}

/** A process with this bus. */
function start(bus: TestBus): Process {
  const stop = new AbortController();
  stopping.push(stop);
  const process: Process = { state: 'starting', stop: () => stop.abort() };
  const claim = claimOf(bus);
  const run = async () => {
    await claim.acquire(stop.signal);
    process.state = 'runs';
    await claim.keep(stop.signal);
    process.state = 'stopped';
  };
  run().catch((error: Error) => {
    process.state = error.message;
  });
  return process;
}

const refused = expect.stringMatching(
  /^running processes of the fleet "sluice" .* \(bus-a\) than this process \(bus-b\)/,
);

describe('the claim of a bus', () => {
  test('is shared by all processes on one bus', async () => {
    const processes = [start({ identity: 'bus-a' }), start({ identity: 'bus-a' })];
    await advance(clock, 120_000);
    expect(processes.map(({ state }) => state)).toEqual(['runs', 'runs']);
  });

  test('refuses a process on another bus while the fleet runs, and does not disturb the fleet', async () => {
    const first = start({ identity: 'bus-a' });
    await advance(clock, 60_000);
    const second = start({ identity: 'bus-b' });
    await advance(clock, 10_000);
    expect(second.state).toBe('starting');
    await advance(clock, 50_000);
    expect([first.state, second.state]).toEqual(['runs', refused]);
  });

  test('is free for another bus soon after the last process stopped', async () => {
    const first = start({ identity: 'bus-a' });
    await advance(clock, 60_000);
    first.stop();
    const second = start({ identity: 'bus-b' });
    await advance(clock, 17_000);
    expect([first.state, second.state]).toEqual(['stopped', 'runs']);
  });

  test('follows a bus that was created again, for running and for new processes', async () => {
    const bus = { identity: 'bus-a' };
    const processes = [start(bus), start(bus)];
    await advance(clock, 58_000);
    bus.identity = 'bus-b';
    processes.push(start(bus));
    await advance(clock, 120_000);
    processes.push(start(bus));
    await advance(clock, 1_000);
    expect(processes.map(({ state }) => state)).toEqual(['runs', 'runs', 'runs', 'runs']);
    const late = start({ identity: 'bus-c' });
    await advance(clock, 60_000);
    expect(late.state).toContain('(bus-b) than this process (bus-c)');
  });

  test('ends a running process whose bus is another one than that of the others', async () => {
    const first = start({ identity: 'bus-a' });
    await advance(clock, 60_000);
    const moved = { identity: 'bus-a' };
    const second = start(moved);
    await advance(clock, 30_000);
    expect(second.state).toBe('runs');
    moved.identity = 'bus-b';
    await advance(clock, 30_000);
    expect([first.state, second.state]).toEqual(['runs', refused]);
  });

  test('survives outages of bus and store of any length', async () => {
    const bus: TestBus = { identity: 'bus-a' };
    const processes = [start(bus), start(bus)];
    await advance(clock, 30_000);
    bus.isDown = true;
    await advance(clock, 600_000);
    bus.isDown = false;
    await advance(clock, 30_000);
    const { heartbeat } = leases;
    leases.heartbeat = async () => {
      throw new Error('no answer');
    };
    await advance(clock, 600_000);
    leases.heartbeat = heartbeat;
    await advance(clock, 30_000);
    expect(processes.map(({ state }) => state)).toEqual(['runs', 'runs']);
  });

  test('is not required if the user of the store may not claim, which is logged once', async () => {
    leases.heartbeat = async () => {
      throw Object.assign(new Error('NOPERM'), { code: 'FORBIDDEN' });
    };
    const process = start({ identity: 'bus-a' });
    await advance(clock, 60_000);
    expect(process.state).toBe('runs');
    expect(warnings).toEqual(['cannot claim the bus; processes of this fleet on another bus would go undetected']);
  });

  test('can be verified without taking it', async () => {
    await claimOf({ identity: 'bus-b' }).verify();
    start({ identity: 'bus-a' });
    await advance(clock, 1_000);
    await claimOf({ identity: 'bus-a' }).verify();
    await expect(claimOf({ identity: 'bus-b' }).verify()).rejects.toThrow('use another bus (bus-a)');
    await claimOf({ identity: 'bus-b', isDown: true }).verify();
  });
});
