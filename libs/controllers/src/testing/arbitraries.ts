import { type EndpointSlice, type PodOnNode, type Service, topologyModeAnnotation } from '@sluice/model';
import { aPod, aService, httpPort, onNode } from '@sluice/model/testing';
import fc from 'fast-check';

/** Arbitrary Services, Pods and changes to them. */

const namedPort = (containerPort: number) => ({ name: 'http', protocol: 'TCP', containerPort });

export const services: fc.Arbitrary<Service> = fc
  .record({
    labels: fc.constantFrom<Record<string, string>>({}, { team: 'x' }, { team: 'y', env: 'z' }),
    annotations: fc.constantFrom<Record<string, string>>({}, { [topologyModeAnnotation]: 'Auto' }),
    trafficDistribution: fc.constantFrom(null, 'PreferClose', 'PreferSameNode', 'other'),
    clusterIP: fc.constantFrom('10.96.0.1', 'None', 'fd00:96::1'),
    ipFamilies: fc.constantFrom<string[]>([], ['IPv4'], ['IPv6'], ['IPv4', 'IPv6']),
    publishNotReadyAddresses: fc.boolean(),
    ports: fc.constantFrom(
      [],
      [httpPort],
      [{ ...httpPort, targetPort: 'http' }],
      [httpPort, { ...httpPort, name: 'tls', targetPort: 443 }],
    ),
  })
  .map((given) => aService(given));

/** Pod number `i` in an arbitrary state. */
function podArbitrary(i: number): fc.Arbitrary<PodOnNode> {
  const four = `10.0.0.${i}`;
  const six = `fd00::${i + 1}`;
  return fc.record({
    node: fc.constantFrom({ zone: 'a' }, { zone: 'b' }, { zone: 'c' }, { zone: '' }, null),
    pod: fc
      .record({
        ips: fc.constantFrom([four], [six], [four, six], [four, `10.1.0.${i}`], []),
        ready: fc.boolean(),
        terminating: fc.boolean(),
        terminal: fc.constantFrom(false, false, false, true),
        uid: fc.constantFrom(`u${i}`, `v${i}`),
        readyTransitionTime: fc.constantFrom(null, '2024-01-01T00:01:00Z', '2024-01-01T00:02:00Z'),
        ports: fc.constantFrom([namedPort(80)], [namedPort(80)], [namedPort(81)], []),
      })
      .map((given) => aPod(i, { ...given, ip: given.ips[0] ?? '' })),
  });
}

const podCount = 24;
const podNumbers = Array.from({ length: podCount }, (_, i) => i);

/** Pods keyed by number, each in an arbitrary state or missing. */
export const arbitraryPods: fc.Arbitrary<ReadonlyMap<number, PodOnNode>> = fc
  .subarray(podNumbers)
  .chain((numbers) => fc.tuple(...numbers.map((i) => podArbitrary(i).map((pod) => [i, pod] as const))))
  .map((pods) => new Map(pods));

/** Ready Pods in one zone with the same ports, as in most clusters most of the time. */
export const stablePods: fc.Arbitrary<ReadonlyMap<number, PodOnNode>> = fc
  .subarray(podNumbers)
  .map((numbers) => new Map(numbers.map((i) => [i, onNode(aPod(i, { ports: [namedPort(80)] }))] as const)));

/** A few Pods that are added, removed or flipped. */
export const podChanges = fc.array(
  fc.nat(podCount - 1).chain((i) =>
    fc.oneof(
      podArbitrary(i).map((pod) => [i, pod] as const),
      fc.boolean().map((ready) => [i, onNode(aPod(i, { ready, ports: [namedPort(80)] }))] as const),
      fc.constant([i, null] as const),
    ),
  ),
  { maxLength: 8 },
);

/** Applies changes. Unchanged Pods stay the same objects in the same order. */
export function changed(
  pods: ReadonlyMap<number, PodOnNode>,
  changes: readonly (readonly [number, PodOnNode | null])[],
): ReadonlyMap<number, PodOnNode> {
  const after = new Map(pods);
  for (const [i, pod] of changes) {
    if (pod === null) after.delete(i);
    else after.set(i, pod);
  }
  return after;
}

/** User edits of slices: remove or duplicate endpoints, relabel, disown, delete. */
export const edits = fc.array(fc.tuple(fc.nat(20), fc.constantFrom('empty', 'double', 'label', 'disown', 'remove')), {
  maxLength: 3,
});

export function edited(
  slices: ReadonlyMap<string, EndpointSlice>,
  changes: readonly (readonly [number, string])[],
  max: number,
) {
  const all = new Map(slices);
  for (const [number, change] of changes) {
    const slice = [...all.values()][number % Math.max(1, all.size)];
    if (slice === undefined) break;
    const { metadata, endpoints } = slice;
    const other = [...all.values()].find((one) => one !== slice && one.addressType === slice.addressType);
    if (change === 'remove') all.delete(metadata.name);
    if (change === 'empty') all.set(metadata.name, { ...slice, endpoints: [] });
    if (change === 'label')
      all.set(metadata.name, { ...slice, metadata: { ...metadata, labels: { ...metadata.labels, user: 'x' } } });
    if (change === 'disown') all.set(metadata.name, { ...slice, metadata: { ...metadata, ownerReferences: [] } });
    if (change === 'double' && other !== undefined) {
      all.set(metadata.name, { ...slice, endpoints: [...(endpoints ?? []), ...(other.endpoints ?? [])].slice(0, max) });
    }
  }
  return all;
}
