import { type Causes, sampled, siblingOf, traceHeaders } from '@sluice/messages';
import type { InFlight } from '@sluice/service-state';
import { anOutcome, keyText } from '@sluice/service-state/testing';
import { beforeEach, describe, expect, test } from 'vitest';
import { aPlan, podModified } from './testing/exported-metrics.ts';
import { aTrace, TracedPartition } from './testing/traced-partition.ts';

/** Traces that were not sampled at their start and that the writer has recorded because the plan failed or was slow. */

const change = aTrace(1, false);
const trace = aTrace(2, false);
const attributes = {
  ...{ 'k8s.cluster.uid': 'c', 'k8s.namespace.name': 'shop', 'k8s.service.name': 'web' },
  'sluice.recorded': 'afterwards',
};
const planned = { 'sluice.controller': 'endpointslice', 'sluice.plan': '1/1', 'sluice.fencing_token': 1 };

let partition: TracedPartition;

beforeEach(() => {
  partition = new TracedPartition();
});

interface Given {
  readonly causes?: Causes;
  readonly planTrace?: string | undefined;
  readonly outcomeTrace?: string | undefined;
}

/** The Outcome of a plan arrives, decided at 1 s because of a Pod that changed at 0.5 s. */
function complete(given: Given = {}) {
  const {
    causes = { ...podModified, traces: [change] },
    planTrace,
    outcomeTrace,
  } = { planTrace: trace, outcomeTrace: sampled(trace), ...given };
  const message = aPlan('endpointslice', [], causes);
  const inFlight: InFlight = {
    ...{ message, triggersAfter: null, hintsAfter: null, watchEchoes: {}, redeliverAt: 0, redeliveries: 0 },
    ...(planTrace !== undefined && { trace: planTrace }),
  };
  const outcome = anOutcome(message);
  const record = { key: keyText, id: 'id', headers: traceHeaders(outcomeTrace), payload: new Uint8Array(), offset: 1 };
  return { before: outcome, after: partition.traces.completed(record, outcome, inFlight) };
}

test('the spans that led to the plan are added, from its first cause on', () => {
  complete();
  const [origin, published] = [sampled(siblingOf(change, 'process')), sampled(trace)];
  const decision = siblingOf(published, 'create');
  expect(partition.spans).toEqual([
    {
      ...{ name: 'watch Pod', kind: 'internal', context: origin, parent: null, startedAt: 500, endedAt: 1_000 },
      attributes: { ...attributes, 'sluice.cause': 'Pod shop/p modified' },
    },
    {
      ...{ name: 'decide endpointslice', kind: 'internal', context: decision, parent: origin },
      ...{ startedAt: 1_000, endedAt: 1_000, attributes: { ...attributes, ...planned } },
    },
    {
      ...{ name: 'publish mutations', kind: 'producer', context: published, parent: decision },
      ...{ startedAt: 1_000, endedAt: 1_000, attributes: { ...attributes, ...planned } },
    },
  ]);
});

test('the next attempt is recorded from its start', () => {
  const { before, after } = complete();
  expect(after).toEqual({ ...before, causes: { ...before.causes, traces: [sampled(change)] } });
});

test('a plan without known causes starts with its decision', () => {
  complete({ causes: { first: [], more: 0, traces: [change] } });
  expect(partition.spans[0]).toMatchObject({
    ...{ name: 'watch other', startedAt: 1_000, endedAt: 1_000 },
    attributes: { 'sluice.cause': '' },
  });
});

describe('nothing is added', () => {
  test.each<readonly [string, Given]>([
    ['if the writer recorded nothing', { outcomeTrace: trace }],
    ['if the Outcome has no trace', { outcomeTrace: undefined }],
    ['if the spans were recorded at the time', { planTrace: sampled(trace) }],
    ['if the plan has no trace', { planTrace: undefined }],
    ['if no cause has a trace', { causes: podModified }],
  ])('%s', (_, given) => {
    const { before, after } = complete(given);
    expect(after).toBe(before);
    expect(partition.spans).toEqual([]);
  });
});
