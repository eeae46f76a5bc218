import { type Endpoints, skipMirrorLabel } from '@sluice/controllers';
import type { Fact } from '@sluice/messages';
import { describe, expect, test } from 'vitest';
import { explainService } from '../explain/explain-service.ts';
import { journalOf, service, snapshot } from '../testing/records.ts';
import { summarize } from './summarize.ts';

function stateOf(...facts: Fact[]) {
  return journalOf(snapshot(1, 1_000, facts)).state;
}

const custom = (labels: Record<string, string>): Endpoints => ({
  metadata: { name: 'web', namespace: 'shop', uid: 'endpoints-uid', resourceVersion: '10', labels },
  subsets: [],
});

describe('a Service without endpoints', () => {
  test.each<[string, string, Fact[]]>([
    ['empty', 'with a selector', [service()]],
    ['unmanaged', 'of type ExternalName', [service({ type: 'ExternalName' })]],
    ['unmanaged', 'without a selector and without Endpoints', [service({ selector: null })]],
    [
      'empty',
      'without a selector and with empty custom Endpoints',
      [service({ selector: null }), { kind: 'endpoints', endpoints: custom({}), uid: 'endpoints-uid' }],
    ],
    [
      'unmanaged',
      'with the skip-mirror label on its Endpoints, such as default/kubernetes',
      [
        service({ selector: null }),
        { kind: 'endpoints', endpoints: custom({ [skipMirrorLabel]: 'true' }), uid: 'endpoints-uid' },
      ],
    ],
  ])('is %s %s', (status, _, facts) => {
    expect(summarize(stateOf(...facts), [], 'prod').status).toBe(status);
  });

  test('is not described as mirrored if its Endpoints have the skip-mirror label', () => {
    const endpoints = custom({ [skipMirrorLabel]: 'true' });
    const notes = explainService(
      stateOf(service({ selector: null }), { kind: 'endpoints', endpoints, uid: 'endpoints-uid' }),
    );
    expect(notes).toEqual([expect.stringContaining('excluded from mirroring')]);
  });
});
