import { formatDuration, localTime, printableLine } from '@sluice/platform/process';
import colors from 'picocolors';
import type { Applied } from './display.ts';
import { causeText } from './text-display.ts';

interface RecentChange {
  readonly key: string;
  readonly lines: readonly string[];
}

const limit = 8;

/** The last changes that were written, two lines each: the cause, and the Service with its endpoints. */
export class RecentChanges {
  readonly #showsCluster: boolean;
  #changes: readonly RecentChange[] = [];

  constructor(showsCluster: boolean) {
    this.#showsCluster = showsCluster;
  }

  /** `endpoints`: `3 of 4 ready`. Both controllers write for one change, which is shown once. */
  add({ cluster, plan, outcome, latencyMs }: Applied, endpoints: string): void {
    const { namespace, service } = plan.key;
    const name = `${this.#showsCluster ? `${cluster} ` : ''}${namespace}/${service}`;
    const cause = causeText(plan.causes);
    const key = `${cluster}/${namespace}/${service} ${plan.causes.first[0]?.observedAt} ${cause}`;
    const isApplied = outcome.status === 'applied';
    const written = isApplied ? `${endpoints}, written in ${formatDuration(latencyMs)}` : outcome.status;
    const time = localTime(outcome.completedAt, outcome.completedAt);
    const about = printableLine(`${name}: ${written}`);
    const lines = [
      `${colors.dim(time)}  ${cause}`,
      `${' '.repeat(time.length)}  ${isApplied ? colors.dim(about) : colors.yellow(about)}`,
    ];
    const others = this.#changes.filter((one) => one.key !== key);
    this.#changes = [...others, { key, lines }].slice(-limit);
  }

  /** The newest changes, in at most the given number of lines. */
  lines(room: number): readonly string[] {
    const count = Math.floor(room / 2);
    return count === 0 ? [] : this.#changes.slice(-count).flatMap(({ lines }) => lines);
  }
}
