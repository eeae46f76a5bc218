import { beforeEach, describe, expect, it } from 'vitest';
import { ReplicaDemand } from './replica-demand.ts';

let now: number;
let done: { busyMs: number; records: number };
let demand: ReplicaDemand;

beforeEach(() => {
  now = 1_000;
  done = { busyMs: 500, records: 0 };
  demand = new ReplicaDemand(
    () => now,
    () => done,
  );
});

function work(seconds: number, utilization: number, recordsPerSecond: number): void {
  now += seconds * 1000;
  done = {
    busyMs: done.busyMs + seconds * 1000 * utilization,
    records: done.records + seconds * recordsPerSecond,
  };
}

describe('the demand of a process', () => {
  it('is 0 before any time has passed', () => {
    expect(demand.read({ records: 10, growth: 0 })).toEqual({ utilization: 0, backlogSeconds: 0, desiredReplicas: 0 });
  });

  it('is one replica at the target utilization', () => {
    work(15, 0.6, 100);
    expect(demand.read({ records: 0, growth: 0 }).utilization).toBeCloseTo(0.6);
    expect(demand.read({ records: 0, growth: 0 }).desiredReplicas).toBeCloseTo(1);
  });

  it('rises with the backlog, at the rate of the busy time', () => {
    work(15, 0.5, 100);
    // 0.5 s of work for 100 records: 5 ms each.
    const { backlogSeconds, desiredReplicas } = demand.read({ records: 18_000, growth: 0 });
    expect(backlogSeconds).toBeCloseTo(90);
    expect(desiredReplicas).toBeCloseTo(0.5 + 90 / 60);
  });

  it('is that of the load, not of the speed, while a backlog grows and while it is worked off', () => {
    work(15, 1, 100);
    // 100 records of 10 ms are processed per second, and 50 more arrive.
    expect(demand.read({ records: 750, growth: 750 }).desiredReplicas).toBeCloseTo(1.5 / 0.6);
    work(15, 1, 100);
    expect(demand.read({ records: 0, growth: 0 }).desiredReplicas).toBeCloseTo(0.5 / 0.6);
  });

  it('does not rise with a backlog for which the reserve suffices', () => {
    work(15, 0.6, 100);
    expect(demand.read({ records: 3_000, growth: 0 }).backlogSeconds).toBeCloseTo(18);
    expect(demand.read({ records: 3_000, growth: 0 }).desiredReplicas).toBeCloseTo(1);
  });

  it('ignores a backlog of which nothing is processed: another process is the limit', () => {
    work(15, 0.1, 0);
    expect(demand.read({ records: 1_000_000, growth: 0 }).backlogSeconds).toBe(0);
  });

  it('follows the work of the last seconds, however often it is read', () => {
    for (let i = 0; i < 300; i++) {
      work(0.1, 1, 10);
      demand.read({ records: 0, growth: 0 });
    }
    for (let i = 0; i < 160; i++) {
      work(0.1, 0.2, 10);
      demand.read({ records: 0, growth: 0 });
    }
    expect(demand.read({ records: 0, growth: 0 }).utilization).toBeCloseTo(0.2);
  });

  it('covers the time between two reads that are far apart', () => {
    demand.read({ records: 0, growth: 0 });
    work(60, 0.3, 1);
    demand.read({ records: 0, growth: 0 });
    work(60, 0.9, 1);
    expect(demand.read({ records: 0, growth: 0 }).utilization).toBeCloseTo(0.9);
  });
});
