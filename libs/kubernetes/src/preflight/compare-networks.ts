import { type JoinedRange, printRange } from '@sluice/model';
import { type Check, note, ok, warning } from './check.ts';
import type { ClusterNetwork, Reading } from './cluster-network.ts';
import { findOverlappingRanges } from './overlapping-ranges.ts';
import { type AddressUse, findSharedAddresses } from './shared-addresses.ts';

const about = 'clusters';

/** How many are named of each. */
const maxPairs = 10;
const maxExamples = 3;
const maxNames = 5;

const renumber =
  'only traffic between clusters needs distinct addresses, Sluice does not: before you connect these clusters, ' +
  'renumber one, or translate addresses between them';
const renumberServices =
  'only clusters that route Service addresses between them need distinct ones, Sluice does not: before you connect ' +
  'these clusters, find out whether the connection does';

/** Names the addresses that are used in more than one cluster. Of two names for one cluster, it compares the first. */
export function compareNetworks(networks: readonly ClusterNetwork[]): readonly Check[] {
  const distinct = distinctNetworks(networks);
  const sections = [
    section(distinct, 'Pod CIDRs', (one) => one.podRanges, podRangeChecks),
    section(distinct, 'Service CIDRs', (one) => one.serviceRanges, serviceRangeChecks),
    section(distinct, 'Node addresses', (one) => one.nodeAddresses, addressChecks('Node addresses', 'Nodes')),
    section(distinct, 'Pod addresses', (one) => one.podAddresses, addressChecks('Pod addresses', 'Pods')),
  ];
  return [...identityChecks(networks), ...(distinct.length < 2 ? [] : sections.flat())];
}

interface Named<T> {
  readonly name: string;
  readonly value: T;
}

/** What was read is compared; what was not is reported, never as ok. */
function section<T>(
  networks: readonly ClusterNetwork[],
  check: string,
  readingOf: (network: ClusterNetwork) => Reading<T>,
  compare: (read: readonly Named<T>[]) => readonly Check[],
): readonly Check[] {
  const read = networks.flatMap((network): Named<T> | [] => {
    const reading = readingOf(network);
    return 'value' in reading ? { name: network.name, value: reading.value } : [];
  });
  const found = read.length < 2 ? [] : compare(read);
  const clear = ok(about, check, `distinct in ${read.length} clusters`);
  return [...(read.length >= 2 && found.length === 0 ? [clear] : found), ...unreadChecks(networks, check, readingOf)];
}

function unreadChecks(
  networks: readonly ClusterNetwork[],
  check: string,
  readingOf: (network: ClusterNetwork) => Reading<unknown>,
): readonly Check[] {
  const unread = networks.flatMap((network) => {
    const reading = readingOf(network);
    return 'unread' in reading ? { name: network.name, why: reading.unread } : [];
  });
  return [...Map.groupBy(unread, ({ why }) => why)].map(([why, same]) => notChecked(check, `${namesOf(same)}: ${why}`));
}

/** What doctor could not compare. */
export const notChecked = (check: string, why: string): Check =>
  note(about, check, `not checked: ${why}`, 'see docs/operations/doctor.md for what this needs');

/** Groups the clusters by the uid of kube-system. One whose uid is unknown counts as distinct. */
function sameNetworks(networks: readonly ClusterNetwork[]): readonly (readonly ClusterNetwork[])[] {
  const groups = Map.groupBy(networks, (network) => ('value' in network.identity ? network.identity.value : network));
  return [...groups.values()];
}

const distinctNetworks = (networks: readonly ClusterNetwork[]): readonly ClusterNetwork[] =>
  sameNetworks(networks).flatMap((same) => same.slice(0, 1));

function identityChecks(networks: readonly ClusterNetwork[]): readonly Check[] {
  const duplicates = sameNetworks(networks).flatMap((same) => {
    const [first] = same;
    if (same.length < 2 || first === undefined || 'unread' in first.identity) return [];
    const detail = `${namesOf(same)} are the same cluster: kube-system has the uid ${first.identity.value}`;
    const advice =
      'remove all but one: Sluice serves a cluster under one name. If one is a restored copy, ' +
      'see docs/operations/runbooks/cluster-identity.md';
    return warning(about, 'identity', detail, advice);
  });
  const read = networks.filter(({ identity }) => 'value' in identity);
  const clear = read.length < 2 ? [] : [ok(about, 'identity', `distinct in ${read.length} clusters`)];
  return [
    ...(duplicates.length === 0 ? clear : duplicates),
    ...unreadChecks(networks, 'identity', ({ identity }) => identity),
  ];
}

type NamedRanges = Named<readonly JoinedRange[]>;

function podRangeChecks(read: readonly NamedRanges[]): readonly Check[] {
  return overlapDetails(read, (ranges) => ` (${plural(nodesOf(ranges), 'Node')})`).map((detail) =>
    warning(about, 'Pod CIDRs', detail, renumber),
  );
}

/** A Node has at most one range of each family. */
function nodesOf(ranges: readonly JoinedRange[]): number {
  const of = (family: JoinedRange['family']) =>
    ranges.reduce((sum, range) => (range.family === family ? sum + range.members : sum), 0);
  return Math.max(of('IPv4'), of('IPv6'));
}

/** Most clusters have the same Service CIDR, and need no other. */
function serviceRangeChecks(read: readonly NamedRanges[]): readonly Check[] {
  return overlapDetails(read, () => '').map((detail) => note(about, 'Service CIDRs', detail, renumberServices));
}

/** A line for each pair of clusters, and one for those that are not named. */
function overlapDetails(
  read: readonly NamedRanges[],
  sizeOf: (ranges: readonly JoinedRange[]) => string,
): readonly string[] {
  const clusters = read.map(({ name, value }) => ({ name, ranges: value }));
  const found = findOverlappingRanges(clusters, maxPairs);
  const sideOf = ({ name, ranges: [first, ...others] }: (typeof clusters)[number]): string => {
    if (first === undefined) return name;
    const more = others.length === 0 ? '' : ` and ${others.length} more`;
    return `${name} ${printRange(first)}${more}${sizeOf([first, ...others])}`;
  };
  const lines = found.pairs.map(([one, other]) => `${sideOf(one)} overlaps ${sideOf(other)}`);
  if (lines.length < maxPairs) return lines;
  return [...lines, `${found.clusters} of ${read.length} clusters overlap another; ${maxPairs} pairs are named`];
}

const addressChecks =
  (check: string, users: string) =>
  (read: readonly Named<readonly AddressUse[]>[]): readonly Check[] => {
    const clusters = read.map(({ name, value }) => ({ name, uses: value }));
    const { count, examples } = findSharedAddresses(clusters, maxExamples);
    if (count === 0) return [];
    const named = examples.map(({ address, users: [one, other] }) => `${address} (${one} and ${other})`);
    const more = count > named.length ? ` and ${count - named.length} more` : '';
    const detail = `${plural(count, 'address', 'es')} of ${users} in more than one cluster: ${named.join(', ')}${more}`;
    return [warning(about, check, detail, renumber)];
  };

const plural = (count: number, noun: string, suffix = 's'): string => `${count} ${noun}${count === 1 ? '' : suffix}`;

function namesOf(clusters: readonly { readonly name: string }[]): string {
  const names = clusters.map(({ name }) => name);
  if (names.length > maxNames) return `${names.slice(0, maxNames).join(', ')} and ${names.length - maxNames} more`;
  return names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;
}
