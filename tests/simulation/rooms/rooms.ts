import { errorMessage, seededRandom } from '@sluice/platform';
import { Violations } from '../violations.ts';
import { decisionsRoom } from './decisions-room.ts';
import { leaseThreadRoom } from './lease-thread-room.ts';
import { leasesRoom } from './leases-room.ts';
import { localRoom, logsRoom } from './logs-room.ts';
import { packingRoom } from './packing-room.ts';
import { queuesRoom } from './queues-room.ts';
import { reflectorRoom } from './reflector-room.ts';
import { type Room, WrongAnswer } from './room.ts';
import { statusRoom } from './status-room.ts';
import { storeRoom } from './store-room.ts';

export const rooms: readonly Room[] = [
  storeRoom,
  decisionsRoom,
  statusRoom,
  reflectorRoom,
  leasesRoom,
  leaseThreadRoom,
  logsRoom,
  localRoom,
  queuesRoom,
  packingRoom,
];

/** Rooms that each seed runs, in turn, so that they take little of its time. */
const roomsPerSeed = 3;

/** Runs some rooms until the first wrong answer. */
export async function checkRooms(seed: number): Promise<Violations> {
  const violations = new Violations(() => 0);
  const count = Math.min(roomsPerSeed, rooms.length);
  for (let n = 0; n < count && violations.all.length === 0; n++) {
    const room = rooms[(seed * count + n) % rooms.length];
    if (room !== undefined) await runRoom(room, seed, violations);
  }
  return violations;
}

/** Runs one room. What it throws is what is wrong. */
export async function runRoom(room: Room, seed: number, violations: Violations): Promise<void> {
  try {
    await room.run(seededRandom(Math.imul(seed, 0x9e3779b1)));
  } catch (error) {
    const what = error instanceof WrongAnswer ? error.message : error instanceof Error ? error.stack : undefined;
    violations.report(room.invariant, what ?? errorMessage(error));
  }
}
