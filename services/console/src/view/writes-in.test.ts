import { expect, test } from 'vitest';
import type { CompletedEntry } from './entry-schemas.ts';
import { writesIn } from './writes-in.ts';

const completed: CompletedEntry = {
  ...{ kind: 'completed', at: 1, controller: 'endpointslice', plan: { epoch: 1, number: 1 }, status: 'applied' },
  ...{ message: '', retries: 0, causes: { first: [], more: 0 }, latencyMs: 1, applyMs: 1, writes: [], endpoints: [] },
};
const write = { verb: 'update', resource: 'endpointslices', name: 'web-a', ok: false } as const;

test('a plan that was returned without a request is no write; one that met another write is', () => {
  for (const status of ['conflict', 'unavailable'] as const) {
    expect(writesIn({ ...completed, status })).toEqual([]);
    expect(writesIn({ ...completed, status, writes: [write] })).toMatchObject([{ status, isApplied: false }]);
  }
  expect(writesIn({ ...completed, status: 'rejected' })).toMatchObject([{ status: 'rejected' }]);
});
