import { encodeMessage, type Message } from '@sluice/messages';

/** Valid inputs of each decoder, from which the fuzzer derives others, and inputs that once broke a decoder. */

const metadata = (name: string) => ({ name, namespace: 'shop', uid: `uid-${name}`, resourceVersion: '7' });

export const objects = {
  services: {
    metadata: { ...metadata('web'), creationTimestamp: '2026-01-01T00:00:00Z', labels: { app: 'web' } },
    spec: { selector: { app: 'web' }, ports: [{ name: 'http', port: 80, targetPort: 'http' }], clusterIP: '10.0.0.1' },
  },
  pods: {
    metadata: { ...metadata('web-1'), labels: { app: 'web' } },
    spec: { nodeName: 'n1', containers: [{ name: 'c', ports: [{ name: 'http', containerPort: 8080 }] }] },
    status: { podIPs: [{ ip: '10.1.0.1' }], conditions: [{ type: 'Ready', status: 'True' }] },
  },
  nodes: {
    metadata: { name: 'n1', uid: 'uid-n1', resourceVersion: '7', labels: { 'topology.kubernetes.io/zone': 'a' } },
  },
  endpoints: {
    metadata: metadata('web'),
    subsets: [{ addresses: [{ ip: '10.1.0.1', targetRef: { kind: 'Pod', name: 'web-1' } }], ports: [{ port: 8080 }] }],
  },
  endpointslices: {
    metadata: { ...metadata('web-x7k2p'), labels: { 'kubernetes.io/service-name': 'web' } },
    addressType: 'IPv4',
    endpoints: [{ addresses: ['10.1.0.1'], conditions: { ready: true }, nodeName: 'n1' }],
    ports: [{ name: 'http', port: 8080, protocol: 'TCP' }],
  },
} as const;

const deep = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);
const listOf = (items: readonly unknown[]) => ({
  kind: 'List',
  metadata: { resourceVersion: '9', continue: 'c' },
  items,
});
const lines = (...values: readonly unknown[]) =>
  Buffer.from(values.map((value) => `${JSON.stringify(value)}\n`).join(''));

export const jsonWatchInputs: readonly Buffer[] = [
  ...Object.values(objects).map((object) => lines({ type: 'ADDED', object }, { type: 'DELETED', object })),
  lines({ type: 'BOOKMARK', object: { metadata: { resourceVersion: '8' } } }),
  lines({ type: 'ERROR', object: { kind: 'Status', code: 410, message: 'too old', reason: 'Expired' } }),
  Buffer.from(
    `{"type":"ADDED","object":{"metadata":{"name":"a","resourceVersion":"1"},"endpoints":${deep(100_000)}}}\n`,
  ),
  Buffer.from(
    '{"type":"ADDED","object":{"__proto__":{"metadata":{}},"metadata":{"name":"a","resourceVersion":"1"}}}\n',
  ),
];

export const listInputs: readonly Buffer[] = [
  ...Object.values(objects).map((object) => Buffer.from(JSON.stringify(listOf([object, object])))),
  Buffer.from(JSON.stringify({ ...listOf([]), items: null })),
  Buffer.from(`{"metadata":{"resourceVersion":"1"},"items":[{"metadata":{"name":"a"},"x":${deep(100_000)}}]}`),
  Buffer.from(`{"metadata":${deep(100_000)},"items":[]}`),
];

const key = { cluster: 'c', namespace: 'shop', service: 'web' };
const causes = { first: [{ description: 'Pod shop/web-1 became ready', observedAt: 1 }], more: 0 };
const messages: readonly Message[] = [
  {
    kind: 'change',
    key,
    stamp: { epoch: 1, sequence: 2 },
    facts: [
      { kind: 'service', service: null },
      { kind: 'pod', name: 'web-1', pod: null, node: { zone: 'a' } },
      { kind: 'slice', name: 'web-x7k2p', slice: { ...slice() }, uid: 'u' },
    ],
    causes,
  },
  {
    kind: 'mutations',
    key,
    controller: 'endpointslice',
    plan: { epoch: 1, number: 2 },
    groups: [{ mutations: [{ verb: 'create', resource: 'endpointslices', object: slice() }] }],
    events: [],
    incomplete: [],
    serviceUid: 'u',
    causes,
    decidedAt: 1,
  },
  { kind: 'resync', scope: { partition: 3 }, reason: 'test' },
  { kind: 'clusterRemoved', cluster: 'c', epoch: 1 },
];

function slice() {
  return {
    metadata: { name: 'web-x7k2p', namespace: 'shop', labels: { 'kubernetes.io/service-name': 'web' } },
    addressType: 'IPv4' as const,
    endpoints: [{ addresses: ['10.1.0.1'], conditions: { ready: true } }],
    ports: [{ name: 'http', port: 8080, protocol: 'TCP' as const }],
  };
}

export const busRecordInputs: readonly Buffer[] = [
  ...messages.map((message) => Buffer.from(encodeMessage(message))),
  Buffer.from(`{"version":"1.0","kind":"change","facts":${deep(10_000)}}`),
  Buffer.from(`{"version":"1.0","kind":${deep(10_000)}}`),
];

/** Fields of protobuf messages by number, for what Sluice itself never encodes. */
type Fields = readonly (readonly [number: number, value: string | number | Fields])[];

function encoded(fields: Fields): Buffer {
  return Buffer.concat(
    fields.map(([number, value]) => {
      if (typeof value === 'number') return Buffer.concat([varint(number << 3), varint(value)]);
      const bytes = typeof value === 'string' ? Buffer.from(value) : encoded(value);
      return Buffer.concat([varint((number << 3) | 2), varint(bytes.length), bytes]);
    }),
  );
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  for (let rest = value; ; rest = Math.floor(rest / 128)) {
    if (rest < 128) return Buffer.from([...bytes, rest]);
    bytes.push((rest % 128) | 0x80);
  }
}

function watchFrame(type: string, object: Buffer): Buffer {
  const raw = Buffer.concat([Buffer.from('k8s\0'), varint((2 << 3) | 2), varint(object.length), object]);
  const event = Buffer.concat([
    encoded([[1, type]]),
    ...[varint((2 << 3) | 2), varint(1 + varint(raw.length).length + raw.length)],
    ...[varint((1 << 3) | 2), varint(raw.length), raw],
  ]);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(event.length);
  return Buffer.concat([length, event]);
}

const protobufMetadata: Fields = [
  [1, 'web-1'],
  [3, 'shop'],
  [5, 'uid'],
  [6, '7'],
  [
    11,
    [
      [1, 'app'],
      [2, 'web'],
    ],
  ],
];
const podFields: Fields = [
  [1, protobufMetadata],
  [
    2,
    [
      [
        2,
        [
          [1, 'c'],
          [
            6,
            [
              [1, 'http'],
              [3, 8080],
            ],
          ],
        ],
      ],
      [10, 'n1'],
    ],
  ],
  [
    3,
    [
      [1, 'Running'],
      [
        2,
        [
          [1, 'Ready'],
          [2, 'True'],
        ],
      ],
      [6, '10.1.0.1'],
      [12, [[1, '10.1.0.1']]],
    ],
  ],
];
const sliceFields: Fields = [
  [1, protobufMetadata],
  [
    2,
    [
      [1, '10.1.0.1'],
      [2, [[1, 1]]],
      [6, 'n1'],
    ],
  ],
  [
    3,
    [
      [1, 'http'],
      [2, 'TCP'],
      [3, 8080],
    ],
  ],
  [4, 'IPv4'],
];
const prototypeTwice: Fields = [
  [
    1,
    [
      [1, 'web-1'],
      [3, 'shop'],
      [6, '7'],
      [
        11,
        [
          [1, '__proto__'],
          [2, 'a'],
        ],
      ],
      [
        11,
        [
          [1, '__proto__'],
          [2, 'b'],
        ],
      ],
    ],
  ],
];

export const protobufWatchInputs: readonly Buffer[] = [
  ...['ADDED', 'MODIFIED', 'DELETED'].flatMap((type) => [
    watchFrame(type, encoded(podFields)),
    watchFrame(type, encoded(sliceFields)),
  ]),
  watchFrame('BOOKMARK', encoded([[1, [[6, '8']]]])),
  watchFrame(
    'ERROR',
    encoded([
      [3, 'too old'],
      [4, 'Expired'],
      [6, 410],
    ]),
  ),
  watchFrame('ADDED', encoded(prototypeTwice)),
];

/** A frame of 6 MB in which every two bytes are an empty container. */
export const manyContainers: Buffer = watchFrame(
  'ADDED',
  Buffer.concat([
    encoded([[1, protobufMetadata]]),
    varint((2 << 3) | 2),
    varint(6_000_000),
    Buffer.alloc(6_000_000, '\x12\0'),
  ]),
);
