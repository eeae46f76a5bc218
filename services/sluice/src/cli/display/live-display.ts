import type { DegradedPolicy } from '@sluice/console';
import type { Clock } from '@sluice/platform';
import { type PageSize, print, RedrawnBlock, type TerminalOutput } from '@sluice/platform/process';
import type { Applied, ClusterPhase, Display, Statistics } from './display.ts';
import { renderLive } from './live-page.ts';
import { RecentChanges } from './recent-changes.ts';
import { TextDisplay } from './text-display.ts';
import { WrittenEndpoints } from './written-endpoints.ts';

/** What a live display shows. */
export interface LiveSource {
  readonly clock: Clock;
  readonly statistics: Statistics;
  readonly degraded: DegradedPolicy;
  /** What happens now; empty if that is unknown. */
  readonly happening: () => string;
  /** Undefined if there is only one. */
  readonly clusters?: (() => readonly ClusterPhase[]) | undefined;
  /** Aborts when the run stops. */
  readonly signal: AbortSignal;
}

const everyMs = 500;

/** Shows the present state of a run in a terminal, redrawn in place until the run stops. */
export class LiveDisplay implements Display {
  readonly #source: LiveSource;
  readonly #size: () => PageSize;
  readonly #block: RedrawnBlock;
  readonly #text: TextDisplay;
  readonly #changes: RecentChanges;
  readonly #endpoints: WrittenEndpoints;
  readonly #startedAt: number;

  constructor(source: LiveSource, output: TerminalOutput, size: () => PageSize) {
    this.#source = source;
    this.#size = size;
    this.#block = new RedrawnBlock(output);
    this.#text = new TextDisplay(
      (text) => print(output, text),
      () => size().width,
    );
    this.#changes = new RecentChanges(source.clusters !== undefined);
    this.#endpoints = new WrittenEndpoints(source.degraded);
    this.#startedAt = source.clock.now();
  }

  started(lines: readonly string[]): void {
    const { signal } = this.#source;
    this.#text.started(lines);
    signal.addEventListener('abort', () => this.#block.erase(), { once: true });
    this.#show();
  }

  synced(): void {}

  applied(applied: Applied): void {
    this.#endpoints.add(applied);
    const { ready, notReady } = this.#endpoints.of(applied);
    this.#changes.add(applied, `${ready} of ${ready + notReady} ready`);
  }

  ended(statistics: Statistics, ranMs: number, clusters?: readonly ClusterPhase[]): void {
    this.#text.ended(statistics, ranMs, clusters);
  }

  #show(): void {
    const { clock, statistics, happening, clusters, signal } = this.#source;
    if (signal.aborted) return;
    const now = clock.now();
    const { width, height } = this.#size();
    const status = {
      ...{ ranMs: now - this.#startedAt, happening: happening(), statistics, changes: this.#changes },
      ...{ endpoints: this.#endpoints.totals(now), clusters: clusters?.() ?? [] },
    };
    // One line less than the terminal, for the cursor.
    this.#block.draw(renderLive(status, { width, height: height - 1 }));
    const cancel = clock.schedule(everyMs, () => {
      signal.removeEventListener('abort', cancel);
      this.#show();
    });
    signal.addEventListener('abort', cancel, { once: true });
  }
}
