import type { Change, Fact } from '@sluice/messages';
import { endpointSliceMirroringController, managedByLabel } from '@sluice/model';
import { expect, test } from 'vitest';
import { endpointsFact, journalOf, pod, podChange, service, sliceFact, sliceOf, snapshot } from '../testing/records.ts';
import type { Journal } from './journal.ts';

const manager = 'kube-controller-manager';
/** kube-controller-manager has written the slice with this state of web-1. */
const written = (version: string, ready: boolean) => sliceFact(sliceOf('web-1', { version, ready }), { manager });

function changed(sequence: number, description: string, at: number, ...facts: Fact[]): Change {
  return { ...podChange(sequence, at, ...facts), causes: { first: [{ description, observedAt: at }], more: 0 } };
}

const sliceEvent = 'EndpointSlice shop/web-slice changed';
const start = snapshot(1, 1_000, [service(), pod('web-1', { ready: true }), written('11', true)]);
const notReady = (sequence: number, at: number) =>
  changed(sequence, 'Pod shop/web-1 became not ready', at, pod('web-1', { ready: false }));
const readyAgain = (sequence: number, at: number) =>
  changed(sequence, 'Pod shop/web-1 became ready', at, pod('web-1', { ready: true }));

/** Manager, causes and latency of each write. */
const writesOf = ({ entries }: Journal) =>
  entries.flatMap((entry) =>
    entry.kind !== 'observed'
      ? []
      : entry.observations.flatMap(({ write }) =>
          write === undefined
            ? []
            : {
                by: write.manager,
                causes: write.causes.first.map(({ description }) => description),
                from: write.inferredFrom,
                latencyMs: write.latencyMs,
              },
        ),
  );

test('a write is attributed to the event that brought about the state it shows', () => {
  const journal = journalOf(start, notReady(2, 5_000), changed(3, sliceEvent, 5_012, written('12', false)));
  expect(writesOf(journal)).toEqual([
    { by: manager, causes: ['Pod shop/web-1 became not ready'], from: 'content', latencyMs: 12 },
  ]);
});

test('what a snapshot finds is no write', () => {
  expect(writesOf(journalOf(start))).toEqual([]);
});

test('one Change may show the event and the write', () => {
  const both = notReady(2, 5_000);
  const slice = { description: sliceEvent, observedAt: 5_009 };
  const change = {
    ...both,
    facts: [...both.facts, written('12', false)],
    causes: { first: [...both.causes.first, slice], more: 0 },
  };
  expect(writesOf(journalOf(start, change))).toMatchObject([
    { causes: ['Pod shop/web-1 became not ready'], latencyMs: 9 },
  ]);
});

test('a state that was not written does not explain a later write', () => {
  const journal = journalOf(
    start,
    notReady(2, 5_000),
    readyAgain(3, 5_001),
    notReady(4, 9_000),
    changed(5, sliceEvent, 9_010, written('12', false)),
  );
  expect(writesOf(journal)).toMatchObject([{ from: 'content', latencyMs: 10 }]);
});

test('the event just before a write came too late for it', () => {
  const journal = journalOf(
    start,
    notReady(2, 5_000),
    readyAgain(3, 5_004),
    notReady(4, 5_010),
    changed(5, sliceEvent, 5_010.5, written('12', false)),
  );
  expect(writesOf(journal)).toMatchObject([{ latencyMs: 10.5 }]);
});

test('a write whose event arrives later gets its cause then, without a latency', () => {
  const journal = journalOf(start, changed(2, sliceEvent, 5_000, written('12', false)));
  expect(writesOf(journal)).toEqual([{ by: manager, causes: [], from: null, latencyMs: null }]);
  const later = journalOf(start, changed(2, sliceEvent, 5_000, written('12', false)), notReady(3, 5_003));
  const late = { by: manager, causes: ['Pod shop/web-1 became not ready'], from: 'content', latencyMs: null };
  expect(writesOf(later)).toEqual([late]);
  // The event has its write.
  const next = [readyAgain(4, 6_000), notReady(5, 6_001), changed(6, sliceEvent, 6_030, written('13', true))];
  const following = journalOf(start, changed(2, sliceEvent, 5_000, written('12', false)), notReady(3, 5_003), ...next);
  expect(writesOf(following)).toMatchObject([late, { causes: ['Pod shop/web-1 became ready'], latencyMs: 30 }]);
  const much = journalOf(start, changed(2, sliceEvent, 5_000, written('12', false)), notReady(3, 15_003));
  expect(writesOf(much)).toMatchObject([{ causes: [] }]);
});

test('a state that no Pod should have is the writer’s own idea', () => {
  const journal = journalOf(
    start,
    changed(2, 'Service shop/web changed', 4_000, service({ labels: { a: 'b' } })),
    changed(
      3,
      sliceEvent,
      5_000,
      sliceFact(sliceOf('web-1', { version: '12', ready: false }), { manager: 'kubectl-edit' }),
    ),
  );
  expect(writesOf(journal)).toEqual([{ by: 'kubectl-edit', causes: [], from: null, latencyMs: null }]);
});

test('a write that changes no endpoint follows the first event since the previous write', () => {
  const relabelled = sliceOf('web-1', { version: '12', ready: true });
  const journal = journalOf(
    start,
    changed(2, 'Service shop/web changed', 4_000, service({ labels: { a: 'b' } })),
    changed(3, sliceEvent, 4_020, sliceFact({ ...relabelled, ports: [] }, { manager })),
  );
  expect(writesOf(journal)).toEqual([
    { by: manager, causes: ['Service shop/web changed'], from: 'time', latencyMs: 20 },
  ]);
});

test('a resync and the write of another object cause no write, and only Endpoints cause a mirrored slice', () => {
  const [slice, resync] = [sliceOf('web-1', { version: '12', ready: true }), 'periodic resync'];
  const other = changed(2, 'Endpoints shop/web changed', 3_000, endpointsFact('20', { manager }));
  const again = { ...snapshot(3, 4_000, []), facts: [...start.facts, endpointsFact('20')] };
  const later = { ...again, causes: { first: [{ description: resync, observedAt: 4_000 }], more: 0 } };
  const relabelled = changed(4, sliceEvent, 5_000, sliceFact({ ...slice, ports: [] }, { manager }));
  expect(writesOf(journalOf(start, other, later, relabelled)).at(-1)).toMatchObject({ causes: [], from: null });

  const labels = { ...slice.metadata.labels, [managedByLabel]: endpointSliceMirroringController };
  const mirrored = sliceFact({ ...slice, metadata: { ...slice.metadata, labels } }, { manager });
  const journal = journalOf(start, other, changed(3, 'EndpointSlice shop/web-slice changed', 3_015, mirrored));
  expect(writesOf(journal).at(-1)).toMatchObject({ causes: ['Endpoints shop/web changed'], latencyMs: 15 });
});

test('the deletion of a slice has no manager, and that of a Pod explains it', () => {
  const gone: Fact = { kind: 'pod', name: 'web-1', pod: null, node: null };
  const journal = journalOf(
    start,
    changed(2, 'Pod shop/web-1 deleted', 4_000, gone),
    changed(3, 'EndpointSlice shop/web-slice deleted', 4_030, sliceFact(null)),
  );
  expect(writesOf(journal)).toEqual([{ by: null, causes: ['Pod shop/web-1 deleted'], from: 'content', latencyMs: 30 }]);
});

test('Endpoints are attributed on their own', () => {
  const created = endpointsFact('20', { manager });
  const journal = journalOf(start, changed(2, 'Endpoints shop/web added', 2_000, created));
  expect(writesOf(journal)).toMatchObject([{ by: manager }]);
  expect(journal.entries.at(-1)).toMatchObject({
    observations: [{ of: 'endpoints', text: `were created by ${manager}`, write: { verb: 'create' } }],
  });
});

test('the cause of a write may be among the records that were dropped', () => {
  const journal = journalOf(
    start,
    notReady(2, 5_000),
    changed(3, sliceEvent, 5_012, written('12', false)),
    readyAgain(4, 6_000),
    changed(5, sliceEvent, 6_020, written('13', true)),
  );
  const causes = () => writesOf(journal).map((write) => [write.by, write.latencyMs]);
  expect(causes()).toEqual([
    [manager, 12],
    [manager, 20],
  ]);
  // The snapshot and the event: of the first write, only the writer is known.
  journal.halve();
  expect(causes()).toEqual([[manager, 20]]);
  const other = journalOf(start, notReady(2, 5_000), changed(3, sliceEvent, 5_012, written('12', false)));
  other.halve();
  expect(writesOf(other)).toEqual([{ by: manager, causes: [], from: null, latencyMs: null }]);
});

test('each of many writes has its event', () => {
  const changes = Array.from({ length: 20 }, (_, i) => {
    const at = 5_000 + i * 100;
    const ready = i % 2 === 1;
    const event = (ready ? readyAgain : notReady)(2 * i + 2, at);
    return [event, changed(2 * i + 3, sliceEvent, at + 12, written(`${i + 12}`, ready))];
  });
  const writes = writesOf(journalOf(start, ...changes.flat()));
  expect(writes.map(({ from, latencyMs }) => [from, latencyMs])).toEqual(changes.map(() => ['content', 12]));
});
