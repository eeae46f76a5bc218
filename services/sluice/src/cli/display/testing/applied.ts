import type { MutationResult, Outcome, PlannedMutations } from '@sluice/messages';
import type { Mutation } from '@sluice/model';
import type { Applied } from '../display.ts';

export interface GivenApplied {
  readonly service?: string;
  readonly causes?: readonly string[];
  readonly more?: number;
  /** Names of the created slices. */
  readonly slices?: readonly string[];
  readonly status?: Outcome['status'];
  readonly message?: string;
  readonly retries?: number;
  readonly latencyMs?: number;
  readonly observedAt?: number;
}

/** A plan with its Outcome, for tests of displays. */
export function anApplied(given: GivenApplied = {}): Applied {
  const { service = 'web', causes = ['Pod shop/web-1 became ready'], more = 0, slices = ['web-x'] } = given;
  const { status = 'applied', message = '', retries = 0, latencyMs = 3.21, observedAt = 1 } = given;
  const mutations = slices.map((name): Mutation => {
    const endpoints = [
      { addresses: ['10.1.0.1'], conditions: { ready: true } },
      { addresses: ['10.1.0.2'], conditions: { ready: false } },
    ];
    const metadata = { name, namespace: 'shop' };
    return { verb: 'create', resource: 'endpointslices', object: { metadata, addressType: 'IPv4', endpoints } };
  });
  const results = slices.map((name, index): MutationResult => {
    const failed = status !== 'applied';
    const base = { group: 0, index, verb: 'create', resource: 'endpointslices', name } as const;
    return { ...base, status: failed ? 'failed' : 'applied', ...(failed && { error: message }) };
  });
  const common = {
    key: { cluster: 'uid', namespace: 'shop', service },
    controller: 'endpointslice',
    plan: { epoch: 1, number: 1 },
    causes: { first: causes.map((what) => ({ description: what, observedAt })), more },
    decidedAt: 2,
  } as const;
  const plan: PlannedMutations = {
    kind: 'mutations',
    ...common,
    groups: [{ mutations }],
    events: [],
    incomplete: [],
    serviceUid: 'service-uid',
  };
  const completedAt = Date.parse('2026-01-01T12:00:00.5Z');
  const outcome: Outcome = { kind: 'outcome', ...common, status, results, message, completedAt, retries };
  return { cluster: 'sim', plan, outcome, latencyMs };
}
