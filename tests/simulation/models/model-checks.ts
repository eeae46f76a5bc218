import { errorMessage, seededRandom } from '@sluice/platform';
import { Violations } from '../violations.ts';
import { decisionsCheck } from './decisions-check.ts';
import { leaseThreadCheck } from './lease-thread-check.ts';
import { leasesCheck } from './leases-check.ts';
import { localCheck, logsCheck } from './logs-check.ts';
import { type ModelCheck, WrongAnswer } from './model-check.ts';
import { packingCheck } from './packing-check.ts';
import { queuesCheck } from './queues-check.ts';
import { reflectorCheck } from './reflector-check.ts';
import { statusCheck } from './status-check.ts';
import { storeCheck } from './store-check.ts';

export const modelChecks: readonly ModelCheck[] = [
  storeCheck,
  decisionsCheck,
  statusCheck,
  reflectorCheck,
  leasesCheck,
  leaseThreadCheck,
  logsCheck,
  localCheck,
  queuesCheck,
  packingCheck,
];

/** Each seed runs some of the checks, in turn, so that they take little of its time. */
const checksPerSeed = 3;

/** Runs some checks until the first wrong answer. */
export async function runModelChecks(seed: number): Promise<Violations> {
  const violations = new Violations(() => 0);
  const count = Math.min(checksPerSeed, modelChecks.length);
  for (let n = 0; n < count && violations.all.length === 0; n++) {
    const check = modelChecks[(seed * count + n) % modelChecks.length];
    if (check !== undefined) await runModelCheck(check, seed, violations);
  }
  return violations;
}

/** Reports what the check throws. */
export async function runModelCheck(check: ModelCheck, seed: number, violations: Violations): Promise<void> {
  try {
    await check.run(seededRandom(Math.imul(seed, 0x9e3779b1)));
  } catch (error) {
    const what = error instanceof WrongAnswer ? error.message : error instanceof Error ? error.stack : undefined;
    violations.report(check.invariant, what ?? errorMessage(error));
  }
}
