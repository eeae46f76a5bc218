/** What a cluster proves of itself when a process connects to it. */
export interface ClusterEvidence {
  /** uid of its namespace kube-system. Anyone can claim it, so it proves nothing alone. */
  readonly identity: string;
  /** SHA-256 fingerprints of the certificate authorities that vouched for its server; empty if none is configured. */
  readonly authorities: readonly string[];
  /** URL of its API server. */
  readonly server: string;
}

/** A cluster as the fleet knows it. */
interface ClusterPin {
  readonly identity: string;
  /** Names under which it is configured. */
  readonly names: readonly string[];
  readonly authorities: readonly string[];
  /** Addresses at which it was found, the latest first. */
  readonly servers: readonly string[];
}

/** A name claimed an identity that does not belong to it. */
export interface IdentityConflict extends ClusterEvidence {
  readonly name: string;
  readonly reason: string;
  /** The name is pinned to another identity, or another cluster is pinned with this identity. */
  readonly kind: 'name' | 'identity';
  /** An operator has decided against the claim: it is refused, and no other cluster is affected. */
  readonly decided: boolean;
}

/** The pinned identities of a fleet's clusters. An immutable value; stored as JSON with a format version. */
export interface PinnedClusters {
  readonly version: 1;
  readonly pins: readonly ClusterPin[];
  readonly conflicts: readonly IdentityConflict[];
}

interface Admission {
  readonly clusters: PinnedClusters;
  /** Why the cluster must not be served; undefined if it may. */
  readonly refusal?: string;
}

export const noPinnedClusters: PinnedClusters = { version: 1, pins: [], conflicts: [] };

const maxServers = 8;

/**
 * Decides whether the cluster behind a name may be served, and pins it at its first contact (ADR 0053). On a conflict, the
 * claim and the pinned cluster are both refused until an operator accepts one of them.
 *
 * @param refresh replace the pinned authorities and add the address: the evidence is of a new connection
 */
export function admit(
  clusters: PinnedClusters,
  name: string,
  evidence: ClusterEvidence,
  { refresh = true }: { readonly refresh?: boolean } = {},
): Admission {
  const { pins, conflicts } = clusters;
  const { identity } = evidence;
  const own = conflicts.find((one) => one.name === name && one.identity === identity);
  if (own !== undefined) return { clusters, refusal: refusalOf(own) };
  const open = conflicts.find(
    (one) => !one.decided && (one.name === name || (one.kind === 'identity' && one.identity === identity)),
  );
  if (open !== undefined) return { clusters, refusal: refusalOf(open) };
  const conflict = conflictOf(clusters, name, evidence);
  if (conflict !== undefined) {
    // An operator may have decided since the connection was opened: only what answers now can contradict that.
    if (!refresh) return { clusters, refusal: refusalOf(conflict) };
    return { clusters: { ...clusters, conflicts: [...conflicts, conflict] }, refusal: refusalOf(conflict) };
  }
  const pin = pins.find((one) => one.identity === identity);
  if (pin === undefined) return { clusters: { ...clusters, pins: [...pins, pinOf(name, evidence)] } };
  const next = refresh ? refreshed(pin, name, evidence) : pin;
  if (JSON.stringify(next) === JSON.stringify(pin)) return { clusters };
  return { clusters: { ...clusters, pins: pins.map((one) => (one === pin ? next : one)) } };
}

/** Pins the name to this evidence, whatever was pinned before, and decides every conflict of the name or the identity. */
export function accept(clusters: PinnedClusters, name: string, evidence: ClusterEvidence): PinnedClusters {
  const { identity } = evidence;
  const previous = clusters.pins.find((pin) => pin.identity === identity);
  const isSame = previous !== undefined && isSameCluster(previous, evidence);
  const losers = isSame ? [] : (previous?.names ?? []).filter((other) => other !== name);
  const names = isSame ? [...new Set([...previous.names, name])].sort() : [name];
  const others = withoutName(
    clusters.pins.filter((pin) => pin.identity !== identity),
    name,
  );
  const reason = `the identity ${identity} was accepted for cluster ${name} at ${evidence.server}`;
  const refused = losers.map<IdentityConflict>((other) => ({
    name: other,
    identity,
    authorities: previous?.authorities ?? [],
    server: previous?.servers[0] ?? '',
    reason,
    kind: 'identity',
    decided: true,
  }));
  const conflicts = clusters.conflicts
    .filter((one) => one.name !== name || one.identity !== identity)
    .filter((one) => !losers.includes(one.name) || one.identity !== identity)
    .map((one) => (one.name === name || one.identity === identity ? { ...one, decided: true } : one));
  const pin = { ...pinOf(name, evidence), names };
  return { version: 1, pins: [...others, pin], conflicts: [...conflicts, ...refused] };
}

/** Drops a name that is no longer configured, with its conflicts: another cluster may take it. */
export function release(clusters: PinnedClusters, name: string): PinnedClusters {
  const isKnown =
    clusters.pins.some((pin) => pin.names.includes(name)) || clusters.conflicts.some((one) => one.name === name);
  if (!isKnown) return clusters;
  const conflicts = clusters.conflicts.filter((one) => one.name !== name);
  return { version: 1, pins: withoutName(clusters.pins, name), conflicts };
}

/** @throws Error if the document was written by a newer version of Sluice, or is not JSON */
export function parsePinnedClusters(text: string | null): PinnedClusters {
  if (text === null) return noPinnedClusters;
  const document = JSON.parse(text) as PinnedClusters;
  if (document.version !== 1) {
    throw new Error('the pinned cluster identities have an unknown format; upgrade every process of the fleet');
  }
  return document;
}

function conflictOf({ pins }: PinnedClusters, name: string, evidence: ClusterEvidence): IdentityConflict | undefined {
  const { identity, server } = evidence;
  const conflict = (kind: IdentityConflict['kind'], reason: string): IdentityConflict => {
    return { ...evidence, name, kind, reason, decided: false };
  };
  const byName = pins.find((pin) => pin.names.includes(name));
  if (byName !== undefined && byName.identity !== identity) {
    return conflict('name', `${server} has the identity ${identity}, but ${name} is pinned to ${byName.identity}`);
  }
  const pin = pins.find((one) => one.identity === identity);
  if (pin === undefined) return undefined;
  if (pin === byName) {
    if (isRecognised(pin, evidence)) return undefined;
    return conflict('name', `both the address ${server} and the certificate authority differ from those pinned`);
  }
  if (isSameCluster(pin, evidence)) return undefined;
  return conflict('identity', `${server} has the identity of cluster ${pin.names.join(', ')} at ${pin.servers[0]}`);
}

/**
 * Whether evidence under a pinned name is of the pinned cluster. One of authority and address may change: a rotated
 * authority or a moved server is still accepted.
 */
function isRecognised(pin: ClusterPin, { authorities, server }: ClusterEvidence): boolean {
  return pin.servers.includes(server) || authorities.some((authority) => pin.authorities.includes(authority));
}

/** Whether evidence under another name is of the pinned cluster. Neither may differ: a clone may share one of them. */
function isSameCluster(pin: ClusterPin, { authorities, server }: ClusterEvidence): boolean {
  if (!pin.servers.includes(server)) return false;
  if (pin.authorities.length === 0 && authorities.length === 0) return true;
  return authorities.some((authority) => pin.authorities.includes(authority));
}

const refusalOf = ({ name, reason, decided }: IdentityConflict): string =>
  decided
    ? `cluster identity refused: ${reason}; to serve this one instead, run "sluice clusters accept ${name}"`
    : `cluster identity conflict of ${name}: ${reason}; check which is right, then run "sluice clusters accept NAME"`;

function pinOf(name: string, { identity, authorities, server }: ClusterEvidence): ClusterPin {
  return { identity, names: [name], authorities, servers: [server] };
}

function refreshed(pin: ClusterPin, name: string, { authorities, server }: ClusterEvidence): ClusterPin {
  return {
    identity: pin.identity,
    names: [...new Set([...pin.names, name])].sort(),
    authorities: authorities.length === 0 ? pin.authorities : authorities,
    servers: pin.servers.includes(server) ? pin.servers : [server, ...pin.servers].slice(0, maxServers),
  };
}

function withoutName(pins: readonly ClusterPin[], name: string): readonly ClusterPin[] {
  return pins
    .map((pin) => ({ ...pin, names: pin.names.filter((other) => other !== name) }))
    .filter(({ names }) => names.length > 0);
}
