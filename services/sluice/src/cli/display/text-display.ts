import { stripVTControlCharacters } from 'node:util';
import { type Causes, isWatcherStart } from '@sluice/messages';
import {
  firstLine,
  formatDuration,
  localTime,
  printable,
  printableLine,
  truncate,
  truncateMiddle,
  wrap,
} from '@sluice/platform/process';
import colors from 'picocolors';
import type { Applied, ClusterPhase, Display, Statistics } from './display.ts';
import { type Write, writesOf } from './writes.ts';

const signs = { create: colors.green('+'), update: colors.cyan('~'), delete: colors.red('-') };
/** In a terminal with fewer columns, lines are indented less, and sizes move to a line of their own. */
const wideColumns = 100;
/** Limit of the list of refused writes in the summary. */
const refusedShown = 5;
/** Limit of lines about the initial sync, which has one per Service. */
const startLinesShown = 12;

/** Prints what happened in the cluster, what was written for it, and the latency. */
export class TextDisplay implements Display {
  readonly #write: (text: string) => void;
  readonly #width: () => number;
  readonly #showsCluster: boolean;
  #lastCause = '';
  #startLines = 0;

  constructor(write: (text: string) => void, width: () => number, showsCluster = false) {
    this.#write = write;
    this.#showsCluster = showsCluster;
    this.#width = width;
  }

  started(lines: readonly string[]): void {
    // Not truncated; addresses and process lists must stay complete. Indented lines are commands, and stay whole.
    const width = this.#width();
    const isWhole = (line: string) => line.length <= width || line.startsWith(' ');
    for (const line of lines) this.#write(`${(isWhole(line) ? [line] : wrap(line, width - 2)).join('\n  ')}\n`);
    this.#line('');
  }

  /** Not shown; the writes make it obvious. */
  synced(): void {}

  applied(applied: Applied): void {
    const { plan, outcome, cluster } = applied;
    const writes = writesOf(plan, outcome);
    // A plan that went back to the reconciler without a request is decided again.
    if (writes.length === 0 && outcome.status !== 'rejected' && outcome.status !== 'namespaceTerminating') return;
    const starting = plan.causes.first.slice(0, 1).some(isWatcherStart);
    if (starting && ++this.#startLines > startLinesShown) {
      if (this.#startLines === startLinesShown + 1) this.#line(colors.dim(`${this.#indent()}… more Services omitted`));
      return;
    }
    const service = starting ? '' : `${plan.key.namespace}/${plan.key.service} `;
    // Two events with the same description are two repairs, each with its own time.
    const observedAt = plan.causes.first[0]?.observedAt ?? outcome.completedAt;
    const cause = `${cluster} ${service}${causeText(plan.causes)} ${observedAt}`;
    if (cause !== this.#lastCause) {
      this.#lastCause = cause;
      const where = this.#showsCluster ? `${colors.cyan(printableLine(cluster))}  ` : '';
      // Without a date: each line is written when it happens.
      const time = localTime(outcome.completedAt, outcome.completedAt);
      this.#hanging(`${colors.dim(time)}  ${where}`, causeText(plan.causes), colors.bold);
    }
    for (const write of writes) this.#writeLine(plan.key.namespace, write, applied.latencyMs);
    if (outcome.status !== 'applied') {
      const text = outcome.message || 'the namespace is terminating';
      this.#hanging(`${this.#indent()}${colors.yellow('!')} `, `${outcome.status}: ${printableLine(text)}`);
    }
  }

  ended(statistics: Statistics, ranMs: number, clusters: readonly ClusterPhase[] = []): void {
    const { writes, latencies } = statistics;
    this.#lastCause = '';
    this.#line('');
    this.#line(colors.bold(`Ran ${formatDuration(ranMs)}`));
    this.#hanging(
      '  written   ',
      `${count(writes.create + writes.update + writes.delete, 'object')} for ${count(statistics.services, 'Service')}: ` +
        `${writes.create} created, ${writes.update} updated, ${writes.delete} deleted`,
    );
    if (latencies !== undefined) {
      this.#hanging(
        '  latency   ',
        `p50 ${formatDuration(latencies.p50)}, p99 ${formatDuration(latencies.p99)}, ` +
          `max ${formatDuration(latencies.max)}, from the watch event to the API server's response`,
      );
    }
    this.#hanging(
      '  errors    ',
      [
        ...[count(statistics.conflicts, 'conflict'), count(statistics.refusals, 'refused plan')],
        ...[count(statistics.retries, 'retry', 'retries'), count(statistics.malformed, 'malformed object')],
      ].join(', '),
    );
    this.#refused([...statistics.refused]);
    if (clusters.length > 0) this.#hanging('  clusters  ', clustersText(clusters));
  }

  #refused(refused: readonly (readonly [name: string, reason: string])[]): void {
    if (refused.length === 0) return;
    this.#hanging('  refused   ', `the API server still refuses ${count(refused.length, 'write')}:`, colors.red);
    for (const [name, reason] of refused.slice(0, refusedShown))
      this.#hanging('    ', printable(`${name}: ${firstLine(reason)}`));
    if (refused.length > refusedShown) this.#line(`    and ${refused.length - refusedShown} more`);
  }

  #writeLine(namespace: string, write: Write, latencyMs: number): void {
    const name = printableLine(`${write.kind.padEnd(13)} ${namespace}/${write.name}`);
    const sign = write.applied ? signs[write.verb] : colors.yellow('!');
    const details = write.applied ? sizeText(write) : `${write.verb} failed, nothing written`;
    const latency = write.applied ? colors.dim(formatDuration(latencyMs)) : '';
    const wide = `${this.#indent()}${sign} ${name.padEnd(48)} ${details.padEnd(18)} ${latency}`.trimEnd();
    if (this.#width() >= wideColumns) return this.#line(wide);
    this.#line(`${this.#indent()}${sign} ${truncateMiddle(name, this.#width() - this.#indent().length - 2)}`);
    this.#line(`${this.#indent()}  ${[details, latency].filter((text) => text !== '').join('  ')}`);
  }

  #indent(): string {
    return ' '.repeat(this.#width() < wideColumns ? 2 : 15);
  }

  /** Text after a first column, wrapped with a hanging indent. */
  #hanging(first: string, text: string, paint: (line: string) => string = (line) => line): void {
    const margin = stripVTControlCharacters(first).length;
    const lines = wrap(text, this.#width() - margin);
    for (const [i, line] of lines.entries()) this.#line(`${i === 0 ? first : ' '.repeat(margin)}${paint(line)}`);
  }

  #line(text: string): void {
    this.#write(`${truncate(text, this.#width())}\n`);
  }
}

/** `2 serving, east unavailable`. */
export function clustersText(clusters: readonly ClusterPhase[]): string {
  const others = clusters.filter(({ phase }) => phase !== 'serving');
  const serving = `${clusters.length - others.length} serving`;
  return [serving, ...others.map(({ name, phase }) => `${printableLine(name)} ${phase}`)].join(', ');
}

export const count = (n: number, one: string, many = `${one}s`): string => `${n} ${n === 1 ? one : many}`;

function sizeText({ endpoints, ready, addressType }: Write): string {
  const size = endpoints === undefined ? '' : `${ready}/${endpoints} ready`;
  return addressType === 'IPv6' ? `${size} IPv6` : size;
}

export function causeText({ first, more }: Causes): string {
  const [cause] = first;
  if (cause === undefined) return 'retry';
  const others = first.length - 1 + more;
  const description = printableLine(cause.description);
  return others === 0 ? description : `${description}, and ${others} more`;
}
