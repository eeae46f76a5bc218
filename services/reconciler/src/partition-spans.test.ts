import { siblingOf, type TraceContext, traceHeaders } from '@sluice/messages';
import { aChange, anOutcome, key, keyText, whatHappened } from '@sluice/service-state/testing';
import { beforeEach, describe, expect, test } from 'vitest';
import { aPlan, create } from './testing/exported-metrics.ts';
import { aTrace, TracedPartition } from './testing/traced-partition.ts';

const service = { 'k8s.cluster.uid': 'c', 'k8s.namespace.name': 'shop', 'k8s.service.name': 'web' };
const planned = { 'sluice.controller': 'endpointslice', 'sluice.plan': '1/1', 'sluice.fencing_token': 1 };

let partition: TracedPartition;

beforeEach(() => {
  partition = new TracedPartition();
});

function record(trace: TraceContext | undefined, id = 'the-id', under = keyText) {
  return { key: under, id, headers: traceHeaders(trace), payload: new Uint8Array(), offset: 1 };
}

function commit() {
  partition.traces.committed(partition.clock.now());
  return partition.spans.splice(0);
}

/** Decides for Changes with these traces, with a plan or without one. */
function decide(changes: readonly TraceContext[], plan = true, reason?: string): TraceContext {
  const { traces } = partition;
  const causes = { ...whatHappened('Pod shop/p modified'), traces: changes };
  const trace = traces.planTrace(causes);
  if (trace === undefined) throw new Error('not traced');
  const decided = plan
    ? aPlan('endpointslice', [{ mutations: [create('a'), create('b')] }, { mutations: [create('c')] }])
    : undefined;
  traces.decided({ key, controller: 'endpointslice', causes, startedAt: 4_000, plan: decided, trace, reason });
  return trace;
}

describe('a processed record', () => {
  test('has a span from its start to its end, below the one of its sender', () => {
    partition.traces.processed(record(aTrace(1)), 4_000);
    expect(commit()).toEqual([
      {
        ...{ name: 'process changes', kind: 'consumer', startedAt: 4_000, endedAt: 5_000 },
        ...{ context: siblingOf(aTrace(1), 'process'), parent: aTrace(1) },
        attributes: {
          ...service,
          'messaging.system.name': 'jetstream',
          'messaging.operation.type': 'process',
          'messaging.operation.name': 'process',
          'messaging.destination.name': 'changes',
          'messaging.destination.partition.id': '3',
          'messaging.message.id': 'the-id',
          'messaging.consumer.group.name': 'reconciler',
          'sluice.fencing_token': 7,
        },
      },
    ]);
  });

  test('that failed has the reason, and one of a whole cluster names no Service', () => {
    partition.traces.processed(record(aTrace(1), 'the-id', 'c'), 4_000, 'malformed');
    const [span] = commit();
    expect(span?.error).toBe('malformed');
    expect(Object.keys(span?.attributes ?? {})).not.toContain('k8s.service.name');
  });

  test('has no span if its trace is not sampled', () => {
    partition.traces.processed(record(aTrace(1, false)), 4_000);
    partition.traces.processed(record(undefined), 4_000);
    expect(commit()).toEqual([]);
  });
});

describe('a received message', () => {
  const change = aChange(1, []);

  test('that is a Change carries the trace of its record to the decision', () => {
    for (const trace of [aTrace(1), aTrace(2, false)]) {
      const causes = { ...change.causes, traces: [trace] };
      expect(partition.traces.received(record(trace), change)).toEqual({ ...change, causes });
    }
  });

  test('is left as it is if its record has no trace, or if it is an Outcome, which has the traces of its plan', () => {
    const outcome = anOutcome(aPlan('endpointslice'));
    expect(partition.traces.received(record(undefined), change)).toBe(change);
    expect(partition.traces.received(record(aTrace(1)), outcome)).toBe(outcome);
  });
});

describe('a decision', () => {
  test('continues the trace of its first Change and is followed by the commit', () => {
    const trace = decide([aTrace(1)]);
    expect(trace.slice(0, 35)).toBe(aTrace(1).slice(0, 35));
    expect(trace).not.toBe(aTrace(1));
    partition.clock.skipTo(6_000);
    partition.traces.committed(5_500);
    const decision = siblingOf(trace, 'create');
    expect(partition.spans).toEqual([
      {
        ...{ name: 'decide endpointslice', kind: 'internal', startedAt: 4_000, endedAt: 5_000, links: [] },
        ...{ context: decision, parent: siblingOf(aTrace(1), 'process') },
        attributes: { ...service, ...planned, 'sluice.writes': 3, 'sluice.changes': 1 },
      },
      {
        ...{ name: 'commit', kind: 'client', startedAt: 5_500, endedAt: 6_000 },
        ...{ context: siblingOf(trace, 'commit'), parent: decision },
        attributes: { ...service, 'db.system.name': 'redis', 'db.operation.name': 'commit', 'sluice.partition': 3 },
      },
    ]);
  });

  test('about several Changes ends the traces of the others, with links in both directions', () => {
    const decision = siblingOf(decide([aTrace(1), aTrace(2), aTrace(3)]), 'create');
    const [first, ...others] = commit();
    const processed = [aTrace(2), aTrace(3)].map((trace) => siblingOf(trace, 'process'));
    expect(first).toMatchObject({ context: decision, links: processed, attributes: { 'sluice.changes': 3 } });
    expect(first?.attributes).not.toHaveProperty('sluice.coalesced');
    expect(others.slice(0, 2)).toMatchObject(
      processed.map((parent) => ({
        ...{ name: 'decide endpointslice', parent, links: [decision] },
        attributes: { ...planned, 'sluice.coalesced': true },
      })),
    );
    expect(others[0]?.context.slice(0, 35)).toBe(aTrace(2).slice(0, 35));
    expect(others.map(({ name }) => name).slice(2)).toEqual(['commit']);
  });

  test('without a plan writes nothing under the owner of the partition', () => {
    decide([aTrace(1)], false);
    expect(commit()[0]?.attributes).toEqual({
      ...service,
      ...{ 'sluice.controller': 'endpointslice', 'sluice.fencing_token': 7 },
      ...{ 'sluice.writes': 0, 'sluice.changes': 1 },
    });
  });

  test('that failed has the reason', () => {
    decide([aTrace(1)], false, 'cannot decide');
    expect(commit()[0]).toMatchObject({ name: 'decide endpointslice', error: 'cannot decide' });
  });

  test('about Changes that are not sampled has no spans, but its plan continues their trace', () => {
    expect(decide([aTrace(1, false)]).slice(0, 35)).toBe(aTrace(1).slice(0, 35));
    expect(commit()).toEqual([]);
    expect(partition.traces.planTrace(whatHappened('resync'))).toBeUndefined();
  });

  test('is recorded with the first commit only', () => {
    partition.traces.processed(record(aTrace(1)), 4_000);
    decide([aTrace(1)]);
    expect(commit().map(({ name }) => name)).toEqual(['process changes', 'decide endpointslice', 'commit']);
    expect(commit()).toEqual([]);
  });
});

describe('a published plan', () => {
  test('has a span below its decision', () => {
    partition.traces.published([record(aTrace(1))], 4_000);
    expect(partition.spans).toEqual([
      {
        ...{ name: 'publish mutations', kind: 'producer', startedAt: 4_000, endedAt: 5_000 },
        ...{ context: aTrace(1), parent: siblingOf(aTrace(1), 'create') },
        attributes: {
          ...service,
          'messaging.system.name': 'jetstream',
          'messaging.operation.type': 'send',
          'messaging.operation.name': 'publish',
          'messaging.destination.name': 'mutations',
          'messaging.destination.partition.id': '3',
          'messaging.message.id': 'the-id',
        },
      },
    ]);
  });

  test('of a former owner is a repetition below the Change that caused it, or below its decision', () => {
    const origins = new Map([
      ['a', aTrace(5)],
      ['b', undefined],
    ]);
    partition.traces.published([record(aTrace(1), 'a'), record(aTrace(2), 'b')], 4_000, origins);
    const repeated = { 'sluice.repeated': true };
    expect(partition.spans).toMatchObject([
      { context: aTrace(1), parent: aTrace(5), attributes: repeated },
      { context: aTrace(2), parent: siblingOf(aTrace(2), 'create'), attributes: repeated },
    ]);
  });

  test('has no span if its trace is not sampled; the next one has', () => {
    partition.traces.published([record(aTrace(1, false)), record(undefined), record(aTrace(2))], 4_000);
    expect(partition.spans).toMatchObject([{ context: aTrace(2) }]);
  });
});
