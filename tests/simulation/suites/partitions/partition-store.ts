import type { Clock } from '@sluice/platform';
import type { Leases, StoredDocument } from '@sluice/store';
import { type Lua, MemoryRedis, memoryPorts } from '@sluice/store/redis/testing';
import { OwnLeases } from '../../invariants/own-leases.ts';

export const fleet = 'sluice';
/** The defaults. */
export const leaseTimes = { ttlMs: 900, heartbeatMs: 250 };

/** What the processes share: the production adapters and scripts on a model of Redis. */
export class PartitionStore {
  readonly server: MemoryRedis;
  /** The generations of the fleet. */
  readonly document: StoredDocument;
  readonly intended: StoredDocument;
  readonly own: OwnLeases;
  /** Of a new fleet. */
  readonly partitions: number;
  #members = 0;

  constructor(lua: Lua, clock: Clock, partitions: number) {
    this.server = new MemoryRedis({ lua, clock });
    const ports = memoryPorts({ server: this.server, clock, fleet });
    this.document = ports.partitions;
    this.intended = ports.intendedPartitions;
    this.own = new OwnLeases(() => clock.now(), leaseTimes.ttlMs);
    this.partitions = partitions;
  }

  nextMember(): number {
    return this.#members++;
  }

  /** @param clock that of the process */
  connect(clock: Clock): Leases {
    return memoryPorts({ server: this.server, clock, fleet }).leases;
  }
}
