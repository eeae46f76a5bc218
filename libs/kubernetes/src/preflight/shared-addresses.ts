/** An address, and the Node or Pod that has it. */
export interface AddressUse {
  /** As `parseIp` prints it. */
  readonly address: string;
  /** `node-1`, or `shop/web-1` */
  readonly user: string;
}

export interface ClusterAddresses {
  readonly name: string;
  readonly uses: readonly AddressUse[];
}

export interface SharedAddress {
  readonly address: string;
  /** The first two clusters that use it, with a user in each: `west/shop/web-1` */
  readonly users: readonly [string, string];
}

export interface SharedAddresses {
  readonly count: number;
  readonly examples: readonly SharedAddress[];
}

/** Finds addresses that are used in more than one cluster. */
export function findSharedAddresses(clusters: readonly ClusterAddresses[], maxExamples: number): SharedAddresses {
  const first = new Map<string, { readonly cluster: ClusterAddresses; readonly user: string }>();
  const shared = new Set<string>();
  const examples: SharedAddress[] = [];
  for (const cluster of clusters) {
    for (const { address, user } of cluster.uses) {
      const known = first.get(address);
      if (known === undefined) first.set(address, { cluster, user });
      else if (known.cluster !== cluster && !shared.has(address)) {
        shared.add(address);
        if (examples.length < maxExamples) {
          examples.push({ address, users: [`${known.cluster.name}/${known.user}`, `${cluster.name}/${user}`] });
        }
      }
    }
  }
  return { count: shared.size, examples };
}
