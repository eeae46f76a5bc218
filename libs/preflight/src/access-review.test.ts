import type { ServerResponse } from 'node:http';
import { isApiError } from '@sluice/kubernetes';
import { connect, json, noAbort, startServer } from '@sluice/kubernetes/testing';
import { asRecord } from '@sluice/runtime';
import { afterEach, describe, expect, test } from 'vitest';
import type { Access } from './access.ts';
import { reviewAccess } from './access-review.ts';

const cleanups: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

const list = (resource: string): Access => ({ verb: 'list', group: '', resource });
const rule = (...resources: string[]) => ({ verbs: ['list'], apiGroups: [''], resources });

/** A server with these rules, which allows besides, if asked for one by one, what is in `allowed`. */
async function given(answerRules: (response: ServerResponse) => void, allowed: readonly string[] = []) {
  const askedFor: string[] = [];
  const server = await startServer(({ url, body }, response) => {
    if (url.endsWith('/selfsubjectrulesreviews')) return answerRules(response);
    const { resourceAttributes } = asRecord(asRecord(body).spec);
    const { resource } = asRecord(resourceAttributes);
    askedFor.push(`${resource}`);
    json(response, 201, { status: { allowed: allowed.includes(`${resource}`) } });
  });
  const { connection, close } = await connect(server.url);
  cleanups.push(server.close, close);
  const review = (...resources: string[]) => reviewAccess(connection, resources.map(list), noAbort);
  return { server, review, askedFor };
}

const rules = (status: object) => (response: ServerResponse) => json(response, 201, { status });

describe('what may be done is known', () => {
  test('by one question, of a namespace that cannot be, if the rules allow it', async () => {
    const { server, review } = await given(rules({ resourceRules: [rule('pods'), rule('nodes')], incomplete: false }));
    expect(await review('pods', 'nodes')).toEqual([true, true]);
    expect(server.requests).toHaveLength(1);
    const { spec } = asRecord(server.requests[0]?.body);
    // A namespace's name is a DNS label: small letters, digits and hyphens.
    expect(`${asRecord(spec).namespace}`).toMatch(/[^a-z0-9-]/);
  });

  test('by one question more for each that they do not allow, in the order of the questions', async () => {
    const { review, askedFor } = await given(rules({ resourceRules: [rule('pods')], incomplete: false }), ['nodes']);
    expect(await review('services', 'pods', 'nodes')).toEqual([false, true, true]);
    expect(askedFor).toEqual(['services', 'nodes']);
  });

  test.each<[string, (response: ServerResponse) => void]>([
    ['are incomplete: another authorizer may forbid it', rules({ resourceRules: [rule('*')], incomplete: true })],
    ['do not say whether they are complete', rules({ resourceRules: [rule('*')] })],
    ['are none', rules({ incomplete: false })],
    [
      'have not the form of rules',
      rules({ resourceRules: [{ ...rule('pods'), resourceNames: [7] }, 'x'], incomplete: false }),
    ],
    ['may not be asked for', (response) => json(response, 403, { reason: 'Forbidden', message: 'no' })],
    ['are not served', (response) => json(response, 404, { reason: 'NotFound', message: 'no' })],
    ['fail', (response) => json(response, 500, { reason: 'InternalError', message: 'no' })],
  ])('by asking for each if the rules %s', async (_, answerRules) => {
    const { review, askedFor } = await given(answerRules, ['nodes']);
    expect(await review('pods', 'nodes')).toEqual([false, true]);
    expect(askedFor.sort()).toEqual(['nodes', 'pods']);
  });

  test('not at all if the server breaks off: nothing is asked of it any more', async () => {
    const { review, askedFor } = await given((response) => response.destroy());
    const error: unknown = await review('pods').catch((reason: unknown) => reason);
    expect(isApiError(error) && error.status).toBe(0);
    expect(askedFor).toEqual([]);
  });
});
