import type { LogFields } from '@sluice/platform';
import { formatFields } from '../describe.ts';
import { hasFault, hasLayersOff, isLossy, repaired, type Scenario } from '../scenario.ts';
import type { Violations } from '../violations.ts';
import type { DeadLetterObserver } from './dead-letter-observer.ts';
import type { LateMessages } from './late-messages.ts';
import type { RecordInvariants } from './records.ts';

/** Without injected losses there are no resyncs, no dead letters and no logged errors. */
export class LosslessInvariants {
  readonly #scenario: Scenario;
  readonly #violations: Violations;
  readonly #late: LateMessages;

  constructor(scenario: Scenario, violations: Violations, late: LateMessages) {
    this.#scenario = scenario;
    this.#violations = violations;
    this.#late = late;
  }

  check(records: RecordInvariants, deadLetters: DeadLetterObserver): void {
    if (isLossy(this.#scenario) || this.#isRepaired) return;
    for (const resync of records.resyncs.splice(0)) {
      // A former owner that does not notice that its lease has expired finds records that the next one has released.
      if (hasLayersOff(this.#scenario, 'expiry') && resync.endsWith(': log truncated')) continue;
      if (!resync.endsWith(': no committed offset') && !this.#isLateDeletion(resync) && !this.#isLateMessage(resync))
        this.#violations.report('no resync without a loss', resync);
    }
    for (const letter of deadLetters.added.splice(0)) this.#violations.report('no dead letter without a loss', letter);
  }

  checkError(member: string, message: string, fields: LogFields): void {
    if (isLossy(this.#scenario) || this.#isRepaired) return;
    // Injected failures of the store end the work on a scope.
    if (String(fields.error).includes('injected')) return;
    // Without answers the guard cannot confirm a removal.
    const isUnanswered = hasFault(
      this.#scenario,
      'request errors',
      'late requests',
      'wrong answers',
      'slow API server',
      'cut off from an API server',
    );
    if (message.startsWith('removals held back') && isUnanswered) return;
    if (this.#isLateDeletion(message) || this.#isLateMessage(message)) return;
    // A plan that is decided on late watch events may add what has changed since.
    if (message.startsWith('additions held back')) return;
    this.#violations.report('no error without a loss', `${member}: ${message} ${formatFields(fields)}`);
  }

  /**
   * Without these layers, a comparison of digests corrects the state. Without preconditions, it also finds an object that was
   * written while no watcher could decode it.
   */
  get #isRepaired(): boolean {
    const isOverwritten = hasLayersOff(this.#scenario, 'preconditions') && hasFault(this.#scenario, 'malformed object');
    return isOverwritten || hasLayersOff(this.#scenario, ...repaired);
  }

  /**
   * While watches lag, the digest of a deleted Service whose slices the watcher still lists reaches a reconciler that has deleted
   * them and has forgotten the Service.
   */
  #isLateDeletion(what: string): boolean {
    const isLate = hasFault(
      this.#scenario,
      'watch lag',
      'watch errors',
      'wrong answers',
      'slow link',
      'slow API server',
      'cut off from an API server',
    );
    // A watcher that is cut off even longer may not know Endpoints that were replaced and deleted.
    const isCutOff = hasFault(this.#scenario, 'cut off from an API server');
    return (what.includes('snapshot missing') && isLate) || (what.includes('state digest mismatch') && isCutOff);
  }

  #isLateMessage(what: string): boolean {
    return this.#late.hasAny && /gap in change log|snapshot missing/.test(what);
  }
}
