import type { LogFields } from '@sluice/platform';
import { formatFields } from '../describe.ts';
import type { InjectedFaults } from '../injected-faults.ts';
import { hasLayersOff, repaired, type Scenario } from '../scenario.ts';
import type { Violations } from '../violations.ts';
import type { DeadLetterObserver } from './dead-letter-observer.ts';
import type { HeldBack } from './held-back.ts';
import type { LateMessages } from './late-messages.ts';
import type { RecordInvariants } from './records.ts';

/** What a process logs when a request to the bus or the store has failed. */
const failures: readonly string[] = [
  'failed; restarting from stored state',
  'publishing stopped',
  'work on scope failed; releasing its lease',
];

/** Before injected losses there are no resyncs, no dead letters and no logged errors. */
export class LosslessInvariants {
  readonly #scenario: Scenario;
  readonly #faults: InjectedFaults;
  readonly #violations: Violations;
  readonly #late: LateMessages;
  readonly #heldBack: HeldBack;

  constructor(
    scenario: Scenario,
    faults: InjectedFaults,
    violations: Violations,
    late: LateMessages,
    heldBack: HeldBack,
  ) {
    this.#heldBack = heldBack;
    this.#scenario = scenario;
    this.#faults = faults;
    this.#violations = violations;
    this.#late = late;
  }

  check(records: RecordInvariants, deadLetters: DeadLetterObserver): void {
    if (this.#faults.areLossy) return;
    for (const { what, isOfFormerOwner } of records.resyncs.splice(0)) {
      // One that does not notice that its lease has expired finds records that the next owner has released.
      const mayLag = isOfFormerOwner && hasLayersOff(this.#scenario, 'expiry') && what.endsWith(': log truncated');
      if (!mayLag && !this.#isOfDigest(what) && !this.#isLateMessage(what))
        this.#violations.report('no resync without a loss', what);
    }
    for (const letter of deadLetters.added.splice(0)) this.#violations.report('no dead letter without a loss', letter);
  }

  checkError(member: string, message: string, fields: LogFields): void {
    if (this.#faults.areLossy || this.#isOfDigest(message) || this.#isLateMessage(message)) return;
    if (String(fields.error).includes('injected') && failures.includes(message)) return;
    if (/^(?:removals|additions) held back/.test(message) && this.#heldBack.isExplained(message, fields)) return;
    this.#violations.report('no error without a loss', `${member}: ${message} ${formatFields(fields)}`);
  }

  /**
   * Without some layers, a comparison of digests corrects the state. Without preconditions, it also finds an object that was written
   * while no watcher could decode it.
   */
  #isOfDigest(what: string): boolean {
    const isOverwritten = hasLayersOff(this.#scenario, 'preconditions') && this.#faults.has('malformed object');
    const isRepaired = isOverwritten || hasLayersOff(this.#scenario, ...repaired);
    return isRepaired && /state digest mismatch|snapshot missing/.test(what);
  }

  #isLateMessage(what: string): boolean {
    return this.#late.isRecent && /gap in change log|snapshot missing/.test(what);
  }
}
