import { aChange, anOutcome, aService, aSnapshot, fact, keyText } from '@sluice/service-state/testing';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { TestPartition } from './testing/test-partition.ts';

describe('metrics', () => {
  const versions = { endpoints: '9', endpointslices: '9' };
  const snapshot = aSnapshot(1, [{ kind: 'service', service: aService() }, fact.pod('p')], versions);

  let partition: TestPartition;

  beforeEach(() => {
    partition = new TestPartition();
  });

  afterEach(() => partition.stop());

  /** Forgets what was reported so far, and returns the calls of one method. */
  function take(method: string): readonly (readonly unknown[])[] {
    const calls = partition.reportedAs(method);
    partition.reported.length = 0;
    return calls;
  }

  test('a worker reports what is due, decided and completed, each once', async () => {
    await partition.start();
    await partition.send(snapshot);
    expect(partition.reportedAs('due')).toEqual([[keyText, 'endpointslice']]);
    expect(take('decided')).toMatchObject([
      [keyText, 'endpointslice', { plan: { plan: { number: 1 } }, tracked: { counts: { service: { endpoints: 1 } } } }],
    ]);
    // While the plan is in flight, the next decision waits.
    await partition.send(aChange(2, [fact.pod('q')]));
    expect(partition.reportedAs('due')).toEqual([[keyText, 'endpointslice']]);
    expect(take('decided')).toEqual([]);

    const outcome = anOutcome(await partition.lastPlan());
    await partition.send(outcome, outcome);
    expect(partition.reportedAs('completed')).toMatchObject([
      [keyText, 'endpointslice', { status: 'applied', counted: { slices: 1 } }],
    ]);
    expect(take('decided')).toMatchObject([
      [keyText, 'endpointslice', { plan: { plan: { number: 2 } }, tracked: { counts: { service: { endpoints: 2 } } } }],
    ]);
  });

  test('a worker reports what it takes over from the store, and the end of its share', async () => {
    await partition.start();
    await partition.send(snapshot);
    take('due');
    await partition.stop();
    expect(partition.reported).toEqual([['close']]);
    await partition.start({ fencingToken: 2 });
    expect(take('restored')).toEqual([
      [keyText, 'endpointslice', { counted: expect.objectContaining({ slices: 1 }), deciding: true, parked: false }],
      [keyText, 'endpointslicemirroring', { counted: null, deciding: false, parked: false }],
      [keyText, 'endpoints', { counted: null, deciding: false, parked: false }],
    ]);
  });

  test('a parked Service is reported as parked, also by the next owner', async () => {
    await partition.start();
    await partition.send(snapshot);
    await partition.send(
      anOutcome(await partition.lastPlan(), { status: 'rejected', results: [], message: 'forbidden' }),
    );
    expect(partition.reportedAs('parked')).toContainEqual([keyText, 'endpointslice', true]);
    await partition.restart({ fencingToken: 2 });
    expect(partition.reportedAs('restored')).toContainEqual([
      ...[keyText, 'endpointslice'],
      expect.objectContaining({ deciding: false, parked: true }),
    ]);
    take('parked');
    await partition.send(aChange(2, [fact.pod('q')]));
    expect(partition.reportedAs('parked')).toContainEqual([keyText, 'endpointslice', false]);
  });

  test('a dropped Service is reported', async () => {
    await partition.start();
    await partition.send({ ...snapshot, previousSequence: 0 });
    expect(partition.reportedAs('dropped')).toEqual([]);
    await partition.send({ kind: 'clusterRemoved', cluster: 'c', epoch: 1 });
    expect(partition.reportedAs('dropped')).toEqual([[keyText]]);
  });

  test('an observer sees what is reported as decided', async () => {
    const seen: unknown[][] = [];
    await partition.start({ onDecided: (...decision) => void seen.push(decision) });
    await partition.send(snapshot);
    expect(seen).toHaveLength(1);
    expect(seen).toEqual(partition.reportedAs('decided'));
  });
});
