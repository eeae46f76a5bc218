import type { PlantedBug } from '@sluice/program/planted-bug';
import type { SuiteName } from '../suites/suite-kinds.ts';

/** A bug in what only one suite runs, whose seeds alone are searched. */
export interface SuiteBug extends PlantedBug {
  readonly suite?: SuiteName;
}

/** The lease thread, generations of partitions, the guard against mass removals, and removed clusters. */
export const suiteBugs: readonly SuiteBug[] = [
  {
    suite: 'partitions',
    name: 'the lease thread renews nothing',
    file: 'libs/store/src/redis/lease-renewer.ts',
    search: 'return !silent && now >= this.#lateAt(group);',
    replace: 'return silent && now >= this.#lateAt(group);',
  },
  {
    suite: 'partitions',
    name: 'a renewal that was refused counts',
    file: 'libs/store/src/redis/lease-renewer.ts',
    search: 'if (await this.#options.renew(options, leases)) cells.renewedAt = sentAt;',
    replace: 'await this.#options.renew(options, leases);\n      cells.renewedAt = sentAt;',
  },
  {
    suite: 'partitions',
    name: 'Redis renews leases that another member has acquired',
    file: 'libs/store/src/redis/lua/renew.lua',
    search: "if redis.call('HGET', KEYS[3], ARGV[i]) ~= ARGV[i + 1] .. ' ' .. ARGV[1] then return 0 end",
    replace: "if redis.call('HGET', KEYS[3], ARGV[i]) == '' then return 0 end",
  },
  {
    suite: 'partitions',
    name: 'a process does not wait for the leases of former partitions',
    file: 'libs/fleet/src/roles/role.ts',
    search: '        await generation?.formerReleased(group, leaseTimes.ttlMs, signal);\n',
    replace: '',
  },
  {
    suite: 'partitions',
    name: 'leases of former partitions are revoked at once',
    file: 'libs/fleet/src/roles/fleet-generation.ts',
    search: '          await sleep(clock, ttlMs, signal);\n',
    replace: '',
  },
  {
    suite: 'partitions',
    name: 'a process works in an ended generation',
    file: 'libs/fleet/src/roles/role.ts',
    search: 'if (generation !== undefined && !(await generation.isCurrent())) return aborted(lease.signal);',
    replace: '',
  },
  {
    suite: 'partitions',
    name: 'a process stays in a generation that has ended',
    file: 'libs/fleet/src/roles/fleet-generation.ts',
    search: 'if (stored !== own) this.#ended.abort();',
    replace: '',
  },
  {
    suite: 'partitions',
    name: 'partitions change before their logs are created',
    file: 'libs/fleet/src/roles/repartition.ts',
    search: 'bus = await openLogs(intent.number, partitions);',
    replace: 'bus = await Promise.race([openLogs(intent.number, partitions), openLogs(intent.number, 0)]);',
  },
  {
    suite: 'partitions',
    name: 'an abandoned change of partitions is completed with other ones',
    file: 'libs/fleet/src/roles/repartition.ts',
    search: 'return intent.partitions === partitions ? intent.number : intent.number + 1;',
    replace: 'return intent.number;',
  },
  {
    suite: 'removals',
    name: 'a mass removal needs no confirmation',
    file: 'services/writer/src/confirmation/mass-change-guard.ts',
    search: "const concerns = this.direction === 'removal' ? delta.delta < 0 : delta.added !== undefined;",
    replace: "const concerns = this.direction === 'removal' ? false : delta.added !== undefined;",
  },
  {
    suite: 'removals',
    name: 'each plan of a mass removal counts alone',
    file: 'services/writer/src/confirmation/mass-change-guard.ts',
    search: 'return (peaks[0]?.level ?? this.#level) - this.#level;',
    replace: 'return Math.max(0, -by);',
  },
  {
    suite: 'removals',
    name: 'a removal that was held back passes at the second attempt',
    file: 'services/writer/src/confirmation/mass-change-guard.ts',
    search: 'if (delta.repeated) return true;',
    replace: 'if (delta.repeated) return false;',
  },
  {
    suite: 'removals',
    name: 'a Pod that exists does not contradict its removal',
    file: 'services/writer/src/confirmation/check-removal.ts',
    search: 'return isHere ? {',
    replace: 'return isHere === undefined ? {',
  },
  {
    suite: 'removals',
    name: 'a Node that exists does not contradict a removal',
    file: 'services/writer/src/confirmation/check-removal.ts',
    search: 'return node === null ? undefined : exists(',
    replace: 'return node !== undefined ? undefined : exists(',
  },
  {
    suite: 'removals',
    name: 'a Pod that is gone contradicts its removal',
    file: 'services/writer/src/confirmation/check-removal.ts',
    search:
      "if (found === undefined) return undefined;\n      if (found === 'undecodable') return undecodable(evidence.name);",
    replace: "if (found === undefined || found === 'undecodable') return undecodable(evidence.name);",
  },
  {
    suite: 'clusters',
    name: 'a removed cluster keeps what its watcher has published',
    file: 'services/watcher/src/remove-cluster.ts',
    search: 'if (store !== undefined) await deletePublishedState(',
    replace: 'if (store === undefined) await deletePublishedState(store as never, ',
  },
  {
    suite: 'clusters',
    name: 'the removal of a cluster is not announced to the first partition',
    file: 'services/watcher/src/remove-cluster.ts',
    search: 'for (let partition = 0; partition < bus.partitions; partition++) {\n    const id = recordId(cluster',
    replace: 'for (let partition = 1; partition < bus.partitions; partition++) {\n    const id = recordId(cluster',
  },
  {
    suite: 'clusters',
    name: 'a watcher removes the entry of its cluster before the state',
    file: 'services/sluice/src/composition/roles/watcher-role.ts',
    search: 'await removeCluster({ ...options, cluster: identity, fencingToken });',
    replace:
      'await published;\n        await options.directory?.remove(identity);\n        await removeCluster({ ...options, cluster: identity, fencingToken });',
  },
  {
    suite: 'clusters',
    name: 'the entry of an unconfigured cluster is removed before its state',
    file: 'services/sluice/src/composition/stored-clusters.ts',
    search: 'await removeCluster({ cluster: identity,',
    replace: 'await directory.remove(identity);\n    await removeCluster({ cluster: identity,',
  },
  {
    suite: 'clusters',
    name: 'a cluster that was removed while no process ran is never removed',
    file: 'services/sluice/src/composition/roles/remove-unconfigured.ts',
    search: 'if (now - (unwatchedSince.get(identity) ?? now) < unwatchedMs) continue;',
    replace: 'if (now - (unwatchedSince.get(identity) ?? now) >= 0) continue;',
  },
  {
    suite: 'clusters',
    name: 'a cluster whose name another one has is never removed',
    file: 'services/sluice/src/composition/roles/remove-unconfigured.ts',
    search: "(phase === 'serving' || phase === 'paused') && identity !== stored;",
    replace: "(phase === 'serving' || phase === 'paused') && identity === stored;",
  },
  {
    suite: 'clusters',
    name: 'reconcilers keep the last Change of a removed cluster',
    file: 'services/reconciler/src/partition-state.ts',
    search: '    this.gaps.removeCluster(cluster);\n',
    replace: '',
  },
  {
    suite: 'clusters',
    name: 'a forgotten cluster stays pinned',
    file: 'services/sluice/src/cli/commands/forget-cluster.ts',
    search: '    await new StoredIdentities(fleet.clusterPins).release(name);\n',
    replace: '',
  },
  {
    suite: 'clusters',
    name: 'a removed cluster stays connected',
    file: 'libs/fleet/src/clusters/cluster-set.ts',
    search: "      await cluster.close();\n      if (signal.reason === ('removed'",
    replace: "      if (signal.reason === ('removed'",
  },
  {
    suite: 'clusters',
    name: 'whoever removes a cluster ignores who holds its lease',
    file: 'services/sluice/src/composition/stored-clusters.ts',
    search: 'if (lease?.holder !== member) return',
    replace: 'if (lease === undefined) return',
  },
  {
    suite: 'clusters',
    name: 'what a crashed process left keeps a cluster that was removed',
    file: 'services/sluice/src/composition/roles/remove-unconfigured.ts',
    search: 'isUnidentified(one.identity) && !isRead(one)',
    replace: 'isUnidentified(one.identity)',
  },
  {
    suite: 'clusters',
    name: 'a removal that outlasts its lease removes the entry of the next watcher',
    file: 'services/sluice/src/composition/roles/watcher-role.ts',
    search: 'if (isCurrent()) await options.directory',
    replace: 'await options.directory',
  },
];
