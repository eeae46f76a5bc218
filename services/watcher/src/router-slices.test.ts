import type { EndpointSlice } from '@sluice/model';
import { describe, expect, test } from 'vitest';
import { Router } from './event-handler.ts';
import { Indexer } from './indexer.ts';
import { aSlice } from './testing/objects.ts';

describe('a slice that is relabelled', () => {
  type Reason = { readonly [name: string]: unknown };

  /** The reasons that a change from `before` to `after` gives, by Service. */
  function reasonsOf(before: EndpointSlice | undefined, after: EndpointSlice | undefined, manager?: string) {
    const reasons: Record<string, Reason> = {};
    const router = new Router(new Indexer(), (_namespace, service, reason) => {
      reasons[service] = { ...reason };
    });
    router.apply({
      ...{ resource: 'endpointslices', type: 'modified', namespace: 'shop', name: 's', observedAt: 1 },
      ...{ oldObject: before, newObject: after, manager },
    });
    return reasons;
  }

  test('names the Service of its label to its former one, and who has changed it to both', () => {
    expect(reasonsOf(aSlice('s', 'web'), aSlice('s', 'db'), 'kubectl')).toMatchObject({
      web: { relabelled: true, labelledFor: 'db', manager: 'kubectl', isWatchEcho: false },
      db: { relabelled: false, labelledFor: undefined, manager: 'kubectl', isWatchEcho: false },
    });
  });

  test('names none if it has lost the label', () => {
    const { metadata, ...rest } = aSlice('s', 'web');
    const unlabelled = { ...rest, metadata: { ...metadata, labels: {} } };
    expect(reasonsOf(aSlice('s', 'web'), unlabelled)).toMatchObject({ web: { relabelled: true, labelledFor: '' } });
  });

  test('is no watch echo for its former Service; a write of Sluice that leaves it to its Service is one', () => {
    const reasons = reasonsOf(aSlice('s', 'web'), aSlice('s', 'db'));
    expect(reasons).toMatchObject({ web: { isWatchEcho: false }, db: { isWatchEcho: true } });
    expect(reasonsOf(aSlice('s', 'web'), aSlice('s', 'web'))).toMatchObject({ web: { isWatchEcho: true } });
    expect(reasonsOf(aSlice('s', 'web'), aSlice('s', 'web'), 'kubectl')).toMatchObject({ web: { isWatchEcho: false } });
    expect(reasonsOf(aSlice('s', 'web'), undefined)).toMatchObject({ web: { isWatchEcho: false } });
  });
});
