import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import type { Change } from './change.ts';
import { decodeMessage, encodeMessage, type Message } from './codec.ts';
import type { Outcome } from './outcome.ts';
import type { PlannedMutations } from './planned-mutations.ts';

const key = { cluster: 'c', namespace: 'shop', service: 'cart' };
const causes = { first: [{ description: 'Pod shop/cart-1 became ready', observedAt: 12.5 }], more: 3 };
const slice = {
  metadata: { name: 'cart-x', namespace: 'shop', labels: { a: 'b' }, finalizers: ['keep/me'] },
  addressType: 'IPv4' as const,
  endpoints: [{ addresses: ['10.0.0.1'], conditions: { ready: true }, futureField: { kept: true } }],
  ports: [{ name: '', port: 80, protocol: 'TCP' }],
};

const change: Change = {
  kind: 'change',
  key,
  stamp: { epoch: 1, sequence: 2 },
  facts: [
    { kind: 'service', service: null },
    { kind: 'pod', name: 'cart-1', pod: null, node: null },
    { kind: 'slice', name: 'cart-x', slice, uid: 'u' },
    { kind: 'endpoints', endpoints: null, uid: 'u2' },
    { kind: 'topology', topology: { zoneRatios: { a: 0.5, b: 0.5 }, nodesByZone: { a: 1, b: 1 } }, hintedServices: 3 },
  ],
  snapshot: { first: true, last: true, initial: false, resourceVersions: { endpoints: '5', endpointslices: '6' } },
  causes,
};

const plan: PlannedMutations = {
  kind: 'mutations',
  key,
  controller: 'endpointslice',
  plan: { epoch: 1, number: 9 },
  groups: [
    {
      mutations: [
        { verb: 'create', resource: 'endpointslices', object: slice },
        {
          verb: 'update',
          resource: 'endpoints',
          object: { metadata: { name: 'cart', namespace: 'shop' }, subsets: [] },
        },
        { verb: 'delete', resource: 'endpointslices', name: 'cart-y', uid: 'u', resourceVersion: '4' },
      ],
    },
  ],
  events: [
    { type: 'Warning', reason: 'R', message: 'm', regarding: { kind: 'Service', namespace: 'shop', name: 'cart' } },
  ],
  incomplete: ['a Node is missing'],
  serviceUid: 'su',
  ready: {
    delta: -3,
    total: 40,
    repeated: true,
    evidence: [
      { kind: 'service' },
      { kind: 'pod', name: 'cart-1', uid: 'u1' },
      { kind: 'readiness', name: 'cart-2', uid: 'u2' },
      { kind: 'node', name: 'n1' },
      { kind: 'endpoints' },
    ],
  },
  consecutiveRepairs: 7,
  causes,
  decidedAt: 17,
};

const outcome: Outcome = {
  kind: 'outcome',
  key,
  controller: 'endpointslice',
  plan: { epoch: 1, number: 9 },
  status: 'conflict',
  results: [
    {
      group: 0,
      index: 0,
      verb: 'create',
      resource: 'endpointslices',
      name: 'cart-x',
      status: 'applied',
      stored: { uid: 'u', resourceVersion: '7', generation: 1 },
    },
    {
      group: 0,
      index: 1,
      verb: 'update',
      resource: 'endpointslices',
      name: 'cart-z',
      status: 'failed',
      current: slice,
      error: 'e',
    },
    { group: 0, index: 2, verb: 'delete', resource: 'endpoints', name: 'cart', status: 'failed', current: null },
  ],
  message: 'm',
  causes,
  decidedAt: 17,
  completedAt: 18.25,
  retries: 1,
};

test.each<Message>([change, plan, outcome])('$kind round-trips, including unknown fields of its objects', (message) => {
  expect(decodeMessage(encodeMessage(message))).toEqual(message);
});

describe('an invalid message is rejected with a reason that names the field', () => {
  const bytes = (text: string) => new TextEncoder().encode(text);
  const altered = (part: object) => bytes(JSON.stringify({ version: '1.0', ...change, ...part }));
  // JSON.stringify cannot encode what JSON.parse can decode.
  const future = 'DEEP';
  const sliceFact = { kind: 'slice', name: 'cart-x', uid: 'u' };
  const deep = (part: object) => {
    const text = JSON.stringify({ version: '1.0', ...change, ...part });
    return bytes(text.replace(`"${future}"`, '['.repeat(10_000) + ']'.repeat(10_000)));
  };
  const tooDeep = /nested deeper than 96 levels/;
  test.each([
    ['not JSON', bytes('{"kind":'), /not JSON/],
    ['not UTF-8', Uint8Array.from([0xff, 0xfe]), /not JSON/],
    ['not an object', bytes('[]'), /not a JSON object/],
    ['no version', bytes('{"kind":"change"}'), /version undefined: expected MAJOR.MINOR/],
    ['a newer major version', altered({ version: '2.0' }), /this program understands 1.x/],
    [
      'an unknown kind',
      altered({ kind: 'poem' }),
      /kind "poem": expected one of change, clusterRemoved, compaction, outcome, mutations/,
    ],
    ['a missing key', altered({ key: undefined }), /change: key/],
    ['an empty name', altered({ key: { ...key, service: '' } }), /key.service/],
    ['a fact of unknown kind', altered({ facts: [{ kind: 'weather' }] }), /facts.0.kind/],
    [
      'a number instead of text',
      altered({ facts: [{ kind: 'slice', name: 3, slice: null, uid: '' }] }),
      /facts.0.name/,
    ],
    ['10,000 nested arrays in an object', deep({ facts: [{ ...sliceFact, slice: { ...slice, future } }] }), tooDeep],
    ['10,000 nested arrays as the kind', deep({ kind: future }), tooDeep],
    ['nine million values', altered({ future: new Array(9_000_000).fill(0) }), /more than 8000000 values/],
    [
      'a plan for another resource',
      altered({ ...plan, groups: [{ mutations: [{ verb: 'delete', resource: 'secrets', name: 'x' }] }] }),
      /groups.0.mutations.0.resource/,
    ],
    ['a negative count', altered({ stamp: { epoch: -1, sequence: 0 } }), /stamp.epoch/],
  ])('%s', (_, payload, reason) => {
    expect(() => decodeMessage(payload)).toThrow(reason);
  });

  test('a newer minor version is accepted and its unknown fields are ignored', () => {
    expect(decodeMessage(altered({ version: '1.7', added: true }))).toEqual(change);
  });
});

test('after preloadSchemas, the first message loads no modules', async () => {
  const codec = new URL('./codec.ts', import.meta.url).href;
  const program = `
    import { registerHooks } from 'node:module';
    registerHooks({ load: (url, context, next) => (console.log(url), next(url, context)) });
    const { decodeMessage, encodeMessage, preloadSchemas } = await import(${JSON.stringify(codec)});
    const payload = encodeMessage({ kind: 'clusterRemoved', cluster: 'c', epoch: 1 });
    if (process.argv.includes('prepared')) await preloadSchemas();
    console.log('now');
    console.log(decodeMessage(payload).cluster);`;
  const loadedWith = async (...args: string[]) => {
    const flags = ['--disable-warning=ExperimentalWarning', '--input-type=module', '--eval', program, '--', ...args];
    const { stdout } = await promisify(execFile)(process.execPath, flags);
    return stdout
      .trimEnd()
      .split('\n')
      .slice(stdout.split('\n').indexOf('now') + 1);
  };
  expect(await loadedWith('prepared')).toEqual(['c']);
  expect((await loadedWith()).length).toBeGreaterThan(1);
});
