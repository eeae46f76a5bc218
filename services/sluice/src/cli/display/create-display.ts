import { print } from '@sluice/platform/process';
import type { Display } from './display.ts';
import { JsonDisplay } from './json-display.ts';
import { LiveDisplay, type LiveSource } from './live-display.ts';
import { TextDisplay } from './text-display.ts';

export type OutputFormat = 'text' | 'json' | 'none';

interface DisplayOptions {
  /** There may be several clusters. */
  readonly showsCluster?: boolean;
  /** Shown in a terminal instead of each write. */
  readonly live?: LiveSource | undefined;
}

/** The display of a run on standard output. */
export function createDisplay(output: OutputFormat, { showsCluster = false, live }: DisplayOptions = {}): Display {
  const { stdout } = process;
  const write = (text: string) => print(stdout, text);
  switch (output) {
    case 'json':
      return new JsonDisplay(write);
    case 'text':
      if (live && stdout.isTTY) {
        const size = () => ({ width: stdout.columns, height: stdout.rows });
        return new LiveDisplay(live, stdout, size);
      }
      // A pipe or file has no width.
      return new TextDisplay(write, () => stdout.columns ?? Number.POSITIVE_INFINITY, showsCluster);
    case 'none':
      return { started() {}, synced() {}, applied() {}, ended() {} };
  }
}
