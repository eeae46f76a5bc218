import type { ServerResponse } from 'node:http';
import { asRecord } from '@sluice/platform';
import { afterEach, describe, expect, test } from 'vitest';
import { isApiError } from '../index.ts';
import { connect, json, noAbort, startServer } from '../testing/fixtures.ts';
import { reviewAccess } from './access-review.ts';
import type { Access } from './permissions.ts';

const cleanups: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

const list = (resource: string): Access => ({ verb: 'list', group: '', resource });
const rule = (...resources: string[]) => ({ verbs: ['list'], apiGroups: [''], resources });

/** A server that returns these rules, and whose access reviews allow only the resources in `allowed`. */
async function given(answerRules: (response: ServerResponse) => void, allowed: readonly string[] = []) {
  const reviewed: string[] = [];
  const server = await startServer(({ url, body }, response) => {
    if (url.endsWith('/selfsubjectrulesreviews')) return answerRules(response);
    const { resourceAttributes } = asRecord(asRecord(body).spec);
    const { resource } = asRecord(resourceAttributes);
    reviewed.push(`${resource}`);
    json(response, 201, { status: { allowed: allowed.includes(`${resource}`) } });
  });
  const { connection, close } = await connect(server.url);
  cleanups.push(server.close, close);
  const review = (...resources: string[]) => reviewAccess(connection, resources.map(list), noAbort);
  return { server, review, reviewed };
}

const rules = (status: object) => (response: ServerResponse) => json(response, 201, { status });

describe('reviewAccess', () => {
  test('sends one rules review, for an impossible namespace, if the rules allow everything', async () => {
    const { server, review } = await given(rules({ resourceRules: [rule('pods'), rule('nodes')], incomplete: false }));
    expect(await review('pods', 'nodes')).toEqual([true, true]);
    expect(server.requests).toHaveLength(1);
    const { spec } = asRecord(server.requests[0]?.body);
    // A namespace name is a DNS label: lower-case letters, digits and hyphens.
    expect(`${asRecord(spec).namespace}`).toMatch(/[^a-z0-9-]/);
  });

  test('sends an access review for each access that the rules do not allow, and keeps the order', async () => {
    const { review, reviewed } = await given(rules({ resourceRules: [rule('pods')], incomplete: false }), ['nodes']);
    expect(await review('services', 'pods', 'nodes')).toEqual([false, true, true]);
    expect(reviewed).toEqual(['services', 'nodes']);
  });

  test.each<[string, (response: ServerResponse) => void]>([
    ['are incomplete: another authorizer may deny it', rules({ resourceRules: [rule('*')], incomplete: true })],
    ['do not say whether they are complete', rules({ resourceRules: [rule('*')] })],
    ['are missing', rules({ incomplete: false })],
    ['are malformed', rules({ resourceRules: [{ ...rule('pods'), resourceNames: [7] }, 'x'], incomplete: false })],
    ['are forbidden', (response) => json(response, 403, { reason: 'Forbidden', message: 'no' })],
    ['are not served', (response) => json(response, 404, { reason: 'NotFound', message: 'no' })],
    ['fail', (response) => json(response, 500, { reason: 'InternalError', message: 'no' })],
  ])('reviews each access if the rules %s', async (_, answerRules) => {
    const { review, reviewed } = await given(answerRules, ['nodes']);
    expect(await review('pods', 'nodes')).toEqual([false, true]);
    expect(reviewed.sort()).toEqual(['nodes', 'pods']);
  });

  test('fails without further requests if the server closes the connection', async () => {
    const { review, reviewed } = await given((response) => response.destroy());
    const error: unknown = await review('pods').catch((reason: unknown) => reason);
    expect(isApiError(error) && error.status).toBe(0);
    expect(reviewed).toEqual([]);
  });
});
