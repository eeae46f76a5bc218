import { nodeTopology } from '@sluice/controllers';
import { decodeMessage, encodeMessage, type Fact, noCauses } from '@sluice/messages';
import {
  MalformedObjectError,
  projectEndpointSlice,
  projectEndpoints,
  projectNode,
  projectPod,
  projectService,
} from '@sluice/model';
import fc from 'fast-check';
import { expect, test } from 'vitest';

/**
 * Objects as an API server might send them, also a broken or a future one: any field may be missing, null, of another type,
 * or unknown to Sluice.
 */
type Shape = fc.Arbitrary<unknown>;

const junk: Shape = fc.oneof(
  fc.constant(null),
  fc.integer(),
  fc.boolean(),
  fc.string(),
  fc.constant([]),
  fc.constant({}),
);
const unknownField: fc.Arbitrary<object> = fc.dictionary(fc.constantFrom('futureField', 'x-other'), junk, {
  maxKeys: 1,
});

/** Mostly `shape`. */
const maybe = (shape: Shape): Shape =>
  fc.oneof(
    { weight: 40, arbitrary: shape },
    { weight: 2, arbitrary: fc.constant(null) },
    { weight: 1, arbitrary: junk },
  );

const list = (item: Shape): Shape => fc.array(maybe(item), { maxLength: 3 });

function object(fields: Readonly<Record<string, Shape>>): Shape {
  const values = Object.fromEntries(Object.entries(fields).map(([name, shape]) => [name, maybe(shape)]));
  return fc
    .tuple(fc.record(values, { requiredKeys: [] }), unknownField)
    .map(([known, other]) => ({ ...other, ...known }));
}

const text: Shape = fc.oneof(fc.constant(''), fc.constantFrom('a', 'web', 'IPv4', 'Ready', 'True'), fc.string());
const number: Shape = fc.oneof(fc.integer({ min: 0, max: 65_535 }), fc.integer(), fc.double());
const flag: Shape = fc.boolean();
const time: Shape = fc.constantFrom('2026-01-01T00:00:00Z', '2026-01-01T00:00:00.5+02:00');
const map: Shape = fc.dictionary(fc.string(), fc.oneof({ weight: 9, arbitrary: fc.string() }, junk), { maxKeys: 3 });

const metadata = fc
  .tuple(
    object({
      ...{ namespace: text, uid: text, resourceVersion: text, generation: number, generateName: text },
      ...{ labels: map, annotations: map, creationTimestamp: time, deletionTimestamp: time },
      ownerReferences: list(object({ apiVersion: text, kind: text, name: text, uid: text })),
      finalizers: list(text),
    }),
    fc.constantFrom('web', 'web-1'),
  )
  .map(([fields, name]) => ({ namespace: 'shop', ...(fields as object), name }));

/** An object whose own fields are arbitrary, but which has metadata with a name. */
const named = (fields: Readonly<Record<string, Shape>>): Shape =>
  fc.tuple(object(fields), metadata).map(([rest, meta]) => ({ ...(rest as object), metadata: meta }));

const targetRef = object({ kind: text, namespace: text, name: text, uid: text, fieldPath: text });
const address = object({ ip: text, hostname: text, nodeName: text, targetRef });
const port = object({ name: text, protocol: text, port: number, appProtocol: text });
const conditions = list(object({ type: fc.constant('Ready'), status: text, lastTransitionTime: time }));

const slices = named({
  addressType: fc.oneof(fc.constantFrom('IPv4', 'IPv6', 'FQDN', 'SCION'), text),
  ports: list(port),
  endpoints: list(
    object({
      ...{ addresses: list(text), hostname: text, nodeName: text, zone: text, deprecatedTopology: map, targetRef },
      conditions: object({ ready: flag, serving: flag, terminating: flag }),
      hints: object({ forZones: list(object({ name: text })), forNodes: list(object({ name: text })) }),
    }),
  ),
});

const endpoints = named({
  subsets: list(object({ addresses: list(address), notReadyAddresses: list(address), ports: list(port) })),
});

const pods = named({
  spec: object({
    ...{ nodeName: text, hostname: text, subdomain: text },
    containers: list(object({ ports: list(object({ name: text, protocol: text, containerPort: number })) })),
    initContainers: list(object({ restartPolicy: text, ports: list(object({ name: text, containerPort: number })) })),
  }),
  status: object({ phase: text, podIP: text, podIPs: list(object({ ip: text })), conditions }),
});

const services = named({
  spec: object({
    ...{ type: text, selector: map, clusterIP: text, ipFamilies: list(text), publishNotReadyAddresses: flag },
    ports: list(
      object({ name: text, protocol: text, port: number, targetPort: fc.oneof(number, text), appProtocol: text }),
    ),
    ...{ trafficDistribution: text, internalTrafficPolicy: text, externalTrafficPolicy: text },
  }),
});

const nodes = named({ status: object({ conditions, allocatable: object({ cpu: fc.oneof(text, number) }) }) });

test.each<[string, Shape, (raw: unknown) => Fact]>([
  ['EndpointSlice', slices, (raw) => ({ kind: 'slice', name: 'x', slice: projectEndpointSlice(raw), uid: '' })],
  ['Endpoints', endpoints, (raw) => ({ kind: 'endpoints', endpoints: projectEndpoints(raw), uid: '' })],
  ['Pod', pods, (raw) => ({ kind: 'pod', name: 'x', pod: projectPod(raw).pod, node: { zone: '' } })],
  ['Service', services, (raw) => ({ kind: 'service', service: projectService(raw) })],
  ['Node', nodes, (raw) => ({ kind: 'topology', topology: nodeTopology([projectNode(raw)]) })],
])('every %s that can be projected passes the schema of its message', (_, shape, project) => {
  let projected = 0;
  fc.assert(
    fc.property(shape, (raw) => {
      const fact = projectable(() => project(JSON.parse(JSON.stringify(raw))));
      if (fact === undefined) return;
      projected += 1;
      expect(() => decodeMessage(encodeMessage(aChange(fact)))).not.toThrow();
    }),
    { numRuns: 3_000 },
  );
  expect(projected).toBeGreaterThan(300);
});

/** Undefined if the object is malformed: such an object is never published. */
function projectable(project: () => Fact): Fact | undefined {
  try {
    return project();
  } catch (error) {
    if (error instanceof MalformedObjectError) return undefined;
    throw error;
  }
}

function aChange(fact: Fact) {
  const key = { cluster: 'c', namespace: 'shop', service: 'web' };
  return { kind: 'change', key, stamp: { epoch: 1, sequence: 1 }, facts: [fact], causes: noCauses } as const;
}
