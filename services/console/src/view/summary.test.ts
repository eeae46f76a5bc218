import { type Endpoints, skipMirrorLabel } from '@sluice/controllers';
import type { Fact } from '@sluice/messages';
import { describe, expect, test } from 'vitest';
import { explainService } from '../explain/explain-service.ts';
import { journalOf, service, snapshot } from '../testing/records.ts';
import { summarize } from './summary.ts';

function stateOf(...facts: Fact[]) {
  return journalOf(snapshot(1, 1_000, facts)).state;
}

const custom = (labels: Record<string, string>): Endpoints => ({
  metadata: { name: 'web', namespace: 'shop', uid: 'endpoints-uid', resourceVersion: '10', labels },
  subsets: [],
});

describe('a Service without endpoints', () => {
  test.each<[string, string, Fact[]]>([
    ['empty', 'that selects Pods', [service()]],
    ['unmanaged', 'of type ExternalName', [service({ type: 'ExternalName' })]],
    ['unmanaged', 'without selector and Endpoints', [service({ selector: null })]],
    [
      'empty',
      'whose own Endpoints are',
      [service({ selector: null }), { kind: 'endpoints', endpoints: custom({}), uid: 'endpoints-uid' }],
    ],
    [
      'unmanaged',
      'whose own Endpoints are not to be mirrored, such as default/kubernetes',
      [
        service({ selector: null }),
        { kind: 'endpoints', endpoints: custom({ [skipMirrorLabel]: 'true' }), uid: 'endpoints-uid' },
      ],
    ],
  ])('is %s: one %s', (status, _, facts) => {
    expect(summarize(stateOf(...facts), [], 'prod').status).toBe(status);
  });

  test('that asks not to be mirrored is not said to be mirrored', () => {
    const endpoints = custom({ [skipMirrorLabel]: 'true' });
    const notes = explainService(
      stateOf(service({ selector: null }), { kind: 'endpoints', endpoints, uid: 'endpoints-uid' }),
    );
    expect(notes).toEqual([expect.stringContaining('ask not to be mirrored')]);
  });
});
