import { type Causes, watcherStarted } from '@sluice/messages';
import { firstLine, formatDuration, printable, printableLine, truncate } from '@sluice/process';
import colors from 'picocolors';
import type { Applied } from './applied.ts';
import type { Display } from './display.ts';
import type { Statistics } from './statistics.ts';
import { type Write, writesOf } from './writes.ts';

const signs = { create: colors.green('+'), update: colors.cyan('~'), delete: colors.red('-') };
const indent = ' '.repeat(15);
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
    for (const line of lines) this.#write(`${wrapped(line, this.#width())}\n`);
    this.#line('');
  }

  /** Not shown; the writes make it obvious. */
  synced(): void {}

  applied(applied: Applied): void {
    const { plan, outcome, cluster } = applied;
    const writes = writesOf(plan, outcome);
    if (writes.length === 0 && outcome.status === 'applied') return;
    const starting = plan.causes.first[0]?.description === watcherStarted;
    if (starting && ++this.#startLines > startLinesShown) {
      if (this.#startLines === startLinesShown + 1) this.#line(colors.dim(`${indent}… more Services omitted`));
      return;
    }
    const service = starting ? '' : `${plan.key.namespace}/${plan.key.service} `;
    // Two events with the same description are two repairs, each with its own time.
    const observedAt = plan.causes.first[0]?.observedAt ?? outcome.completedAt;
    const cause = `${cluster} ${service}${causeText(plan.causes)} ${observedAt}`;
    if (cause !== this.#lastCause) {
      this.#lastCause = cause;
      const where = this.#showsCluster ? `${colors.cyan(cluster)}  ` : '';
      this.#line(`${colors.dim(timeOfDay(outcome.completedAt))}  ${where}${colors.bold(causeText(plan.causes))}`);
    }
    for (const write of writes) this.#writeLine(plan.key.namespace, write, applied.latencyMs);
    if (outcome.status !== 'applied') {
      const text = outcome.message || 'the namespace is terminating';
      this.#line(`${indent}${colors.yellow(`! ${outcome.status}`)} ${printableLine(text)}`);
    }
  }

  ended(statistics: Statistics, ranMs: number): void {
    const { writes, latencies } = statistics;
    this.#lastCause = '';
    this.#line('');
    this.#line(colors.bold(`Ran ${formatDuration(ranMs)}`));
    this.#line(
      `  written   ${writes.create + writes.update + writes.delete} objects for ${statistics.services} Services: ` +
        `${writes.create} created, ${writes.update} updated, ${writes.delete} deleted`,
    );
    if (latencies !== undefined) {
      this.#line(
        `  latency   p50 ${formatDuration(latencies.p50)}, p99 ${formatDuration(latencies.p99)}, ` +
          `max ${formatDuration(latencies.max)}, from the watch event to the API server's response`,
      );
    }
    this.#line(
      `  errors    ${statistics.conflicts} conflicts, ${statistics.refusals} refused plans, ${statistics.retries} retries, ` +
        `${statistics.malformed} malformed objects`,
    );
    this.#refused([...statistics.refused]);
  }

  #refused(refused: readonly (readonly [name: string, reason: string])[]): void {
    if (refused.length === 0) return;
    this.#line(colors.red(`  refused   the API server still refuses ${refused.length} writes:`));
    for (const [name, reason] of refused.slice(0, refusedShown))
      this.#line(printable(`    ${name}: ${firstLine(reason)}`));
    if (refused.length > refusedShown) this.#line(`    and ${refused.length - refusedShown} more`);
  }

  #writeLine(namespace: string, write: Write, latencyMs: number): void {
    const name = printableLine(`${write.kind.padEnd(13)} ${namespace}/${write.name}`);
    if (!write.applied) {
      this.#line(`${indent}${colors.yellow('!')} ${name.padEnd(48)} ${write.verb} failed, nothing written`);
      return;
    }
    const size = write.endpoints === undefined ? '' : `${write.ready}/${write.endpoints} ready`;
    const type = write.addressType === 'IPv6' ? ' IPv6' : '';
    this.#line(
      `${indent}${signs[write.verb]} ${name.padEnd(48)} ${(size + type).padEnd(18)} ${colors.dim(formatDuration(latencyMs))}`,
    );
  }

  #line(text: string): void {
    this.#write(`${truncate(text, this.#width())}\n`);
  }
}

/** Breaks between words; addresses and process lists must stay complete. */
function wrapped(line: string, width: number): string {
  const lines: string[] = [];
  for (const word of line.split(' ')) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= width) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(lines.length === 0 ? word : `  ${word}`);
  }
  return lines.join('\n');
}

function causeText({ first, more }: Causes): string {
  const [cause] = first;
  if (cause === undefined) return 'retry';
  const others = first.length - 1 + more;
  const description = printableLine(cause.description);
  return others === 0 ? description : `${description}, and ${others} more`;
}

function timeOfDay(at: number): string {
  const date = new Date(at);
  const two = (n: number) => String(n).padStart(2, '0');
  return `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}.${String(date.getMilliseconds()).padStart(3, '0')}`;
}
