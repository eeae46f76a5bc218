import type { PlanId, PlannedMutations } from '@sluice/messages';
import type { Mutation } from '@sluice/model';
import { describe, expect, test } from 'vitest';
import { AuditMatcher } from './audit-matcher.ts';
import { contentDigest } from './content-digest.ts';
import type { Write } from './write.ts';

const slice = (name: string, resourceVersion: string | undefined, ip: string) => ({
  metadata: { name, namespace: 'shop', ...(resourceVersion !== undefined && { resourceVersion }) },
  addressType: 'IPv4',
  endpoints: [{ addresses: [ip], conditions: { ready: true } }],
  ports: [],
});

const update = (version: string, ip = '10.0.0.1') =>
  ({ verb: 'update', resource: 'endpointslices', object: slice('web-1', version, ip) }) as unknown as Mutation;
const create = {
  verb: 'create',
  resource: 'endpointslices',
  object: slice('web-1', undefined, '10.0.0.1'),
} as unknown as Mutation;
const remove: Mutation = { verb: 'delete', resource: 'endpointslices', name: 'web-1', uid: 'u', resourceVersion: '5' };

function plan(id: PlanId, ...mutations: Mutation[]): PlannedMutations {
  return {
    kind: 'mutations',
    key: { cluster: 'c', namespace: 'shop', service: 'web' },
    controller: 'endpointslice',
    plan: id,
    groups: [{ mutations }],
    events: [],
    incomplete: [],
    serviceUid: 'u',
    causes: [] as unknown as PlannedMutations['causes'],
    decidedAt: 0,
  };
}

function write(mutation: Mutation, at: number, change: Partial<Write> = {}): Write {
  const deleting = mutation.verb === 'delete';
  const version = deleting ? mutation.resourceVersion : mutation.object.metadata.resourceVersion;
  return {
    auditId: `a${at}`,
    user: 'sluice',
    verb: mutation.verb,
    resource: mutation.resource,
    namespace: 'shop',
    name: deleting ? mutation.name : mutation.object.metadata.name,
    precondition: version ?? '',
    contentDigest: deleting ? '' : contentDigest(mutation.resource, mutation.object),
    code: 200,
    receivedAt: at,
    answeredAt: at + 5,
    stored: deleting ? '' : `${at}`,
    ready: [],
    ...change,
  };
}

function check(plans: readonly PlannedMutations[], writes: readonly Write[]): string[] {
  const ledger = new AuditMatcher();
  for (const each of plans) ledger.addPlan(each);
  return ledger.check(writes).map(({ what }) => what);
}

const first = { epoch: 1, number: 1 };
const second = { epoch: 1, number: 2 };

describe('AuditMatcher', () => {
  test('matches planned writes', () => {
    const plans = [plan(first, create), plan(second, update('10')), plan({ epoch: 2, number: 1 }, remove)];
    expect(check(plans, [write(create, 10), write(update('10'), 20), write(remove, 30)])).toEqual([]);
  });

  test('counts a duplicate plan once', () => {
    const ledger = new AuditMatcher();
    expect([ledger.addPlan(plan(first, create)), ledger.addPlan(plan(first, create))]).toEqual([true, false]);
    expect(ledger.planCount).toBe(1);
    expect(ledger.check([write(create, 1), write(create, 20)]).map(({ what }) => what)).toEqual(['applied twice']);
  });

  test.each([
    ['no plan', write(create, 1)],
    ['other content', write(update('5', '10.0.0.9'), 1)],
    ['another precondition', write(update('6'), 1)],
    ['a patch', write(update('5'), 1, { verb: 'patch' })],
    ['another name', write(update('5'), 1, { name: 'web-2' })],
    ['another namespace', write(update('5'), 1, { namespace: 'other' })],
    ['a deletion without the precondition', write(remove, 1, { precondition: '' })],
  ])('reports a write without a matching plan: %s', (_, written) => {
    expect(check([plan(first, update('5')), plan(second, remove)], [written])).toEqual(['unplanned write']);
  });

  test('reports a write that was planned for another cluster', () => {
    const [own, other] = [new AuditMatcher(), new AuditMatcher()];
    other.addPlan(plan(first, update('5')));
    const whats = (writes: readonly Write[]) => own.check(writes, [other]).map(({ what }) => what);
    expect(whats([write(update('5'), 1)])).toEqual(['crossed clusters']);
    expect(whats([write(update('6'), 1)])).toEqual(['unplanned write']);
    own.addPlan(plan(first, update('5')));
    expect(whats([write(update('5'), 1)])).toEqual([]);
    expect(whats([write(update('5'), 1), write(update('5'), 20)])).toEqual(['applied twice']);
  });

  test('ignores rejected writes', () => {
    expect(check([], [write(create, 1, { code: 409 }), write(create, 2, { code: 500 })])).toEqual([]);
  });

  test('reports a mutation that is applied twice', () => {
    expect(check([plan(first, create)], [write(create, 1), write(create, 20)])).toEqual(['applied twice']);
  });

  test('accepts the same mutation from two plans', () => {
    expect(check([plan(first, create), plan(second, create)], [write(create, 1), write(create, 20)])).toEqual([]);
  });

  test('accepts a repeated update without effect', () => {
    const again = write(update('5'), 20, { stored: '5' });
    expect(check([plan(first, update('5'))], [write(update('5'), 1, { stored: '5' }), again])).toEqual([]);
  });

  test.each([
    ['an earlier plan', first, second],
    ['a former owner', { epoch: 1, number: 9 }, { epoch: 2, number: 1 }],
  ])('reports a write by %s after one of a later plan', (_, earlier, later) => {
    const plans = [plan(earlier, update('5')), plan(later, update('6'))];
    expect(check(plans, [write(update('6'), 1), write(update('5'), 20)])).toEqual(['out of order']);
    expect(check(plans, [write(update('5'), 1), write(update('6'), 20)])).toEqual([]);
  });

  test('leaves concurrent requests to their preconditions', () => {
    const plans = [plan(first, update('5')), plan(second, update('6'))];
    const overlapping = [write(update('6'), 10, { answeredAt: 30 }), write(update('5'), 20, { answeredAt: 25 })];
    expect(check(plans, overlapping)).toEqual([]);
  });

  test('returns the same result when called again', () => {
    const ledger = new AuditMatcher();
    ledger.addPlan(plan(first, create));
    const writes = [write(create, 1)];
    expect([...ledger.check(writes), ...ledger.check(writes)]).toEqual([]);
  });
});
