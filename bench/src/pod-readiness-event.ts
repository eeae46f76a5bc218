/** The state of a Service's Pods in one watch event. */
export interface PodReadinessEvent {
  readonly from: 'slice' | 'endpoints';
  readonly namespace: string;
  /** Name of the EndpointSlice or Endpoints. */
  readonly name: string;
  readonly service: string;
  readonly deleted: boolean;
  readonly resourceVersion: string;
  readonly pods: readonly { readonly name: string; readonly ready: boolean }[];
}

/** Parses one line of a watch of EndpointSlices or Endpoints; undefined for bookmarks. */
export function parseEvent(line: string): PodReadinessEvent | undefined {
  const { type, object } = JSON.parse(line) as WatchLine;
  if (type === 'ERROR') throw new Error(`the API server ended a watch: ${line.slice(0, 300)}`);
  if (type === 'BOOKMARK') return undefined;
  return eventOf(type, object);
}

/** `type`: the type of the watch event. */
export function eventOf(type: string, object: WatchedObject): PodReadinessEvent {
  const { namespace, name, labels, resourceVersion } = object.metadata;
  const deleted = type === 'DELETED';
  if (object.kind === 'Endpoints')
    return {
      from: 'endpoints',
      namespace,
      name,
      service: name,
      deleted,
      resourceVersion,
      pods: podsOfEndpoints(object),
    };
  const service = labels?.['kubernetes.io/service-name'] ?? '';
  return { from: 'slice', namespace, name, service, deleted, resourceVersion, pods: podsOfSlice(object) };
}

function podsOfSlice({ endpoints }: WatchedObject): PodReadinessEvent['pods'] {
  return (endpoints ?? []).flatMap(({ targetRef, conditions }) =>
    targetRef === undefined ? [] : [{ name: targetRef.name, ready: conditions?.ready !== false }],
  );
}

function podsOfEndpoints({ subsets }: WatchedObject): PodReadinessEvent['pods'] {
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
    readonly namespace: string;
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
