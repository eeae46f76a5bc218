import { allControllers, type ControllerDescriptor, descriptorOf } from '@sluice/controllers';
import type { Controller } from '@sluice/model';
import { asRecord, asString } from '@sluice/platform';
import { type Connection, dateOf, isApiError, LeaseClient, leasePath, leaseRecord } from '../index.ts';
import {
  aliasesOf,
  type CompetingControllerEvidence,
  type ForeignWrite,
  type LeaderLease,
  type ManagerPod,
  type ReplacedController,
  replacedControllers,
  upstreamManager,
} from './competing-controller.ts';

interface CompetingControllerSearch {
  readonly connection: Connection;
  /** Sluice's name in `managedFields`. */
  readonly ownManager: string;
  /** Used if a response has no Date header, in milliseconds since the Unix epoch. */
  readonly now: number;
  /** Reads the lease and Pods of kube-controller-manager only; for repeated checks. */
  readonly skipWrites?: boolean;
  /** The controllers that Sluice runs: what else runs upstream does not compete with them. Default: all. */
  readonly controllers?: Iterable<Controller> | undefined;
}

/** Objects per page. */
const pageSize = 500;
const metadataList = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json';
const collections = [
  {
    resource: 'endpointslices',
    permission: 'list endpointslices.discovery.k8s.io',
    path: '/apis/discovery.k8s.io/v1/endpointslices',
    label: 'endpointslice.kubernetes.io/managed-by',
  },
  {
    resource: 'endpoints',
    permission: 'list endpoints',
    path: '/api/v1/endpoints',
    label: 'endpoints.kubernetes.io/managed-by',
  },
] as const;

/** Collects evidence of another controller. Sends only reads. */
export async function findCompetingControllerEvidence(
  search: CompetingControllerSearch,
  signal: AbortSignal,
): Promise<CompetingControllerEvidence> {
  const descriptors = [...(search.controllers ?? allControllers)].map(descriptorOf);
  const searched = collections.filter(({ resource }) => descriptors.some(({ writes }) => writes === resource));
  const replaced = replacedBy(descriptors);
  const [read, lease, pods] = await Promise.all([
    Promise.all(search.skipWrites ? [] : searched.map((one) => foreignWrites(search, one, descriptors, signal))),
    leaderLease(search.connection, signal),
    managerPods(search.connection, replaced, signal),
  ]);
  const ownWriteAt = Math.max(...read.map((one) => one.ownWriteAt));
  return {
    now: read.length === 0 ? search.now : Math.max(...read.map(({ now }) => now)),
    writes: read.flatMap(({ writes }) => writes).sort((a, b) => b.at - a.at),
    missing: read.flatMap(({ missing }) => missing),
    lease,
    pods,
    replaced,
    ...(ownWriteAt > 0 && { ownWriteAt }),
  };
}

async function foreignWrites(
  { connection, ownManager, now }: CompetingControllerSearch,
  { resource, permission, path, label }: (typeof collections)[number],
  descriptors: readonly ControllerDescriptor[],
  signal: AbortSignal,
): Promise<Pick<CompetingControllerEvidence, 'now' | 'writes' | 'missing'> & { readonly ownWriteAt: number }> {
  const managers = new Set(descriptors.map(({ managedBy }) => managedBy));
  const writes: ForeignWrite[] = [];
  let serverNow = now;
  let ownWriteAt = 0;
  let continueToken = '';
  do {
    const query = new URLSearchParams({ labelSelector: label, limit: String(pageSize) });
    if (continueToken !== '') query.set('continue', continueToken);
    const answer = await unlessForbidden(
      connection.request({ method: 'GET', path: `${path}?${query}`, headers: { accept: metadataList }, signal }),
    );
    if (answer === undefined) return { now: serverNow, writes, missing: [permission], ownWriteAt };
    serverNow = dateOf(answer) ?? serverNow;
    const { items, metadata } = asRecord(answer.body);
    continueToken = asString(asRecord(metadata).continue);
    for (const item of Array.isArray(items) ? items : []) {
      const { name, namespace, labels, managedFields } = asRecord(asRecord(item).metadata);
      if (!managers.has(asString(asRecord(labels)[label]))) continue;
      const last = lastForeignWrite({ managedFields }, ownManager);
      if (last !== undefined) writes.push({ ...last, object: `${resource} ${asString(namespace)}/${asString(name)}` });
      const own = lastWrite({ managedFields }, (manager) => manager === ownManager);
      ownWriteAt = Math.max(ownWriteAt, own?.at ?? 0);
    }
  } while (continueToken !== '');
  return { now: serverNow, writes, missing: [], ownWriteAt };
}

/**
 * The newest write of another field manager. Every write counts, whatever it changed: for a slice without endpoints,
 * `managedFields` lists only its labels.
 */
export const lastForeignWrite = (metadata: unknown, ownManager: string): Omit<ForeignWrite, 'object'> | undefined =>
  lastWrite(metadata, (manager) => manager !== ownManager);

function lastWrite(
  metadata: unknown,
  isWanted: (manager: unknown) => boolean,
): Omit<ForeignWrite, 'object'> | undefined {
  const { managedFields } = asRecord(metadata);
  const writes = (Array.isArray(managedFields) ? managedFields : []).flatMap((entry: unknown) => {
    const { manager, time } = asRecord(entry);
    const at = Date.parse(asString(time));
    return !isWanted(manager) || Number.isNaN(at) ? [] : [{ manager: asString(manager), at }];
  });
  return writes.sort((a, b) => b.at - a.at)[0];
}

async function leaderLease(connection: Connection, signal: AbortSignal): Promise<LeaderLease | null | undefined> {
  const client = new LeaseClient(connection, leasePath('kube-system', upstreamManager));
  try {
    const found = await unlessForbidden(client.read({ signal }).then((read) => read ?? null));
    if (found === undefined || found === null) return found;
    const { holder, acquireTime, renewedAt, durationMs = 15_000 } = leaseRecord(found.lease);
    return renewedAt === 0 ? null : { holder, acquiredAt: Date.parse(acquireTime) || 0, renewedAt, durationMs };
  } catch (error) {
    if (isApiError(error) && error.status === 404) return null;
    throw error;
  }
}

/** Labels of its static Pods: those of kubeadm and RKE2, and those of Talos and kOps. */
const podLabels = ['component', 'k8s-app'] as const;

/** Running Pods of kube-controller-manager, with what their flags enable. */
async function managerPods(
  connection: Connection,
  replaced: readonly ReplacedController[],
  signal: AbortSignal,
): Promise<CompetingControllerEvidence['pods']> {
  const lists = podLabels.map(async (label) => {
    const query = new URLSearchParams({ labelSelector: `${label}=${upstreamManager}` });
    const path = `/api/v1/namespaces/kube-system/pods?${query}`;
    const answer = await unlessForbidden(connection.request({ method: 'GET', path, signal }));
    const { items } = asRecord(answer?.body);
    return Array.isArray(items) ? items.flatMap((pod: unknown) => managerPod(pod, replaced)) : [];
  });
  const pods = (await Promise.all(lists)).flat();
  return [...new Map(pods.map((pod) => [pod.name, pod])).values()];
}

function managerPod(pod: unknown, replaced: readonly ReplacedController[]): readonly ManagerPod[] {
  const { metadata, spec, status } = asRecord(pod);
  const { phase, containerStatuses } = asRecord(status);
  if (phase !== 'Running') return [];
  const flags = flagsOf(spec);
  const controllers = controllersFlag(flags);
  const node = asString(asRecord(spec).nodeName);
  const [container] = Array.isArray(containerStatuses) ? containerStatuses : [];
  const startedAt = Date.parse(asString(asRecord(asRecord(asRecord(container).state).running).startedAt));
  return [
    {
      name: asString(asRecord(metadata).name),
      enabled: enablesControllers(flags, replaced),
      ...(controllers !== undefined && { controllers }),
      ...(node !== '' && { node }),
      ...(flags.includes('--leader-elect=false') && { leads: true }),
      ...(!Number.isNaN(startedAt) && { startedAt }),
    },
  ];
}

function flagsOf(spec: unknown): readonly string[] {
  const { containers } = asRecord(spec);
  return (Array.isArray(containers) ? containers : []).flatMap((container: unknown) => {
    const { command, args } = asRecord(container);
    return [command, args].flatMap((words) => (Array.isArray(words) ? words.map(asString) : []));
  });
}

/** A controller that upstream does not have replaces none. */
const replacedBy = (descriptors: readonly ControllerDescriptor[]): readonly ReplacedController[] =>
  replacedControllers.filter((name) => descriptors.some(({ flags }) => flags[0] === name));

/**
 * Whether these flags enable one of the controllers. As in kube-controller-manager, a listed name takes precedence over `*`,
 * and no list enables all.
 */
export function enablesControllers(
  flags: readonly string[],
  controllers: readonly ReplacedController[] = replacedControllers,
): boolean {
  const words = (controllersFlag(flags) ?? '*').split(',');
  return controllers.some((controller) => {
    const names = [controller, ...aliasesOf(controller)];
    const listed = words.find((word) => names.includes(word.replace(/^-/, '')));
    return listed === undefined ? words.includes('*') : !listed.startsWith('-');
  });
}

function controllersFlag(flags: readonly string[]): string | undefined {
  const prefix = '--controllers=';
  return flags
    .filter((flag) => flag.startsWith(prefix))
    .at(-1)
    ?.slice(prefix.length);
}

async function unlessForbidden<T>(request: Promise<T>): Promise<T | undefined> {
  try {
    return await request;
  } catch (error) {
    if (isApiError(error) && error.status === 403) return undefined;
    throw error;
  }
}
