/** The state of a Service's Pods in one watch event. */
export interface Sighting {
  readonly from: 'slice' | 'endpoints';
  /** Name of the EndpointSlice or Endpoints. */
  readonly name: string;
  readonly service: string;
  readonly gone: boolean;
  readonly resourceVersion: string;
  readonly pods: readonly { readonly name: string; readonly ready: boolean }[];
}

/** Parses one line of a watch of EndpointSlices or Endpoints; undefined for bookmarks. */
export function parseSighting(line: string): Sighting | undefined {
  const { type, object } = JSON.parse(line) as WatchLine;
  if (type === 'ERROR') throw new Error(`the API server ended a watch: ${line.slice(0, 300)}`);
  if (type === 'BOOKMARK') return undefined;
  return sightingOf(type, object);
}

/** `type`: the type of the watch event. */
export function sightingOf(type: string, object: WatchedObject): Sighting {
  const { name, labels, resourceVersion } = object.metadata;
  const gone = type === 'DELETED';
  if (object.kind === 'Endpoints')
    return { from: 'endpoints', name, service: name, gone, resourceVersion, pods: podsOfEndpoints(object) };
  const service = labels?.['kubernetes.io/service-name'] ?? '';
  return { from: 'slice', name, service, gone, resourceVersion, pods: podsOfSlice(object) };
}

function podsOfSlice({ endpoints }: WatchedObject): Sighting['pods'] {
  return (endpoints ?? []).flatMap(({ targetRef, conditions }) =>
    targetRef === undefined ? [] : [{ name: targetRef.name, ready: conditions?.ready !== false }],
  );
}

function podsOfEndpoints({ subsets }: WatchedObject): Sighting['pods'] {
  const named = (addresses: readonly Address[] | undefined, ready: boolean) =>
    (addresses ?? []).flatMap(({ targetRef }) => (targetRef === undefined ? [] : [{ name: targetRef.name, ready }]));
  return (subsets ?? []).flatMap(({ addresses, notReadyAddresses }) => [
    ...named(addresses, true),
    ...named(notReadyAddresses, false),
  ]);
}

interface Address {
  readonly targetRef?: { readonly name: string };
}

export interface WatchedObject {
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly resourceVersion: string;
    readonly labels?: Readonly<Record<string, string>>;
  };
  readonly endpoints?: readonly (Address & { readonly conditions?: { readonly ready?: boolean } })[] | null;
  readonly subsets?: readonly {
    readonly addresses?: readonly Address[];
    readonly notReadyAddresses?: readonly Address[];
  }[];
}

interface WatchLine {
  readonly type: string;
  readonly object: WatchedObject;
}
