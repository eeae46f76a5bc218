import { type IpRange, type JoinedRange, joinRanges, parseCidr, parseIp } from '@sluice/model';
import { asRecord, asString } from '@sluice/platform';
import { HttpCluster, type HttpClusterOptions, isApiError, isOutage, type ListBudget } from '../index.ts';
import type { AddressUse } from './shared-addresses.ts';

/** What was read, or why it was not. */
export type Reading<T> = { readonly value: T } | { readonly unread: string };

/** The addresses that a cluster uses. */
export interface ClusterNetwork {
  readonly name: string;
  /** uid of the namespace kube-system. */
  readonly identity: Reading<string>;
  /** `spec.podCIDRs` of its Nodes. */
  readonly podRanges: Reading<readonly JoinedRange[]>;
  readonly serviceRanges: Reading<readonly JoinedRange[]>;
  readonly nodeAddresses: Reading<readonly AddressUse[]>;
  /** Of Pods with an address of their own, without those of the host network. */
  readonly podAddresses: Reading<readonly AddressUse[]>;
}

export interface NetworkReader extends HttpClusterOptions {
  /** Counts the Nodes and Pods of all clusters together. */
  readonly counts: Readonly<Record<'nodes' | 'pods', ReturnType<ListBudget['begin']>>>;
}

/** Objects per page. */
const pageSize = 500;

/**
 * Reads the addresses that a cluster uses. What it may not read is reported in the result.
 *
 * @throws ApiError if the cluster does not answer
 */
export async function readClusterNetwork(
  name: string,
  reader: NetworkReader,
  signal: AbortSignal,
): Promise<ClusterNetwork> {
  const cluster = new HttpCluster(reader);
  // First and alone: most requests to a cluster that does not answer would fail one timeout later.
  const identity = await reading('get namespace kube-system', cluster.identity(signal));
  const nodes = { ranges: [] as IpRange[], addresses: [] as AddressUse[] };
  const pods: AddressUse[] = [];
  const [readNodes, serviceRanges, readPods] = await Promise.all([
    reading(
      'list nodes',
      listAll(cluster, 'nodes', reader, signal, (node) => {
        nodes.ranges.push(...podRangesOf(node));
        const addresses = nodeAddressesOf(node);
        nodes.addresses.push(...addresses);
        return addresses;
      }),
    ),
    reading('list servicecidrs.networking.k8s.io', listServiceRanges(cluster, signal)),
    reading(
      'list pods',
      listAll(cluster, 'pods', reader, signal, (pod) => {
        const addresses = podAddressesOf(pod);
        pods.push(...addresses);
        return addresses;
      }),
    ),
  ]);
  const podRanges = joinRanges(nodes.ranges);
  const noRanges = { unread: 'its Nodes have no spec.podCIDRs; only addresses of Pods are compared' };
  return {
    ...{ name, identity, serviceRanges },
    podRanges: 'unread' in readNodes ? readNodes : podRanges.length === 0 ? noRanges : { value: podRanges },
    nodeAddresses: 'unread' in readNodes ? readNodes : { value: nodes.addresses },
    podAddresses: 'unread' in readPods ? readPods : { value: pods },
  };
}

async function reading<T>(access: string, request: Promise<T>): Promise<Reading<T>> {
  try {
    return { value: await request };
  } catch (error) {
    if (!isApiError(error) || isOutage(error)) throw error;
    if (error.status === 403) return { unread: `missing: ${access}` };
    return { unread: error.status === 404 ? 'not served by the API server' : error.message };
  }
}

/** Lists all objects in pages. `keep` returns what is kept of an object. */
async function listAll(
  cluster: HttpCluster,
  resource: 'nodes' | 'pods',
  { counts }: NetworkReader,
  signal: AbortSignal,
  keep: (object: unknown) => unknown,
): Promise<void> {
  const onItem = (object: unknown) => counts[resource].add(keep(object));
  let continueToken = '';
  do {
    counts[resource].addPage();
    ({ continueToken } = await cluster.list(resource, { limit: pageSize, continueToken, onItem }, signal));
  } while (continueToken !== '');
}

async function listServiceRanges({ connection }: HttpCluster, signal: AbortSignal): Promise<readonly JoinedRange[]> {
  const path = '/apis/networking.k8s.io/v1/servicecidrs';
  const { body } = await connection.request({ method: 'GET', path, signal });
  return joinRanges(listOf(asRecord(body).items).flatMap((item) => rangesOf(asRecord(asRecord(item).spec).cidrs)));
}

function podRangesOf(node: unknown): readonly IpRange[] {
  return rangesOf(asRecord(asRecord(node).spec).podCIDRs);
}

const rangesOf = (cidrs: unknown): readonly IpRange[] =>
  listOf(cidrs).flatMap((cidr) => parseCidr(asString(cidr)) ?? []);

function nodeAddressesOf(node: unknown): readonly AddressUse[] {
  const { metadata, status } = asRecord(node);
  const internal = listOf(asRecord(status).addresses)
    .map(asRecord)
    .filter(({ type }) => type === 'InternalIP');
  return usesOf(
    internal.map(({ address }) => address),
    asString(asRecord(metadata).name),
  );
}

/** None if the Pod has ended: its address may belong to another. */
function podAddressesOf(pod: unknown): readonly AddressUse[] {
  const { metadata, spec, status } = asRecord(pod);
  const { podIP, podIPs, phase } = asRecord(status);
  if (asRecord(spec).hostNetwork === true || phase === 'Succeeded' || phase === 'Failed') return [];
  const { namespace, name } = asRecord(metadata);
  const all = listOf(podIPs).map((item) => asRecord(item).ip);
  return usesOf(all.length === 0 ? [podIP] : all, `${asString(namespace)}/${asString(name)}`);
}

function usesOf(addresses: readonly unknown[], user: string): readonly AddressUse[] {
  return addresses.flatMap((address) => {
    const parsed = parseIp(asString(address));
    return parsed === null ? [] : { address: parsed.text, user };
  });
}

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
