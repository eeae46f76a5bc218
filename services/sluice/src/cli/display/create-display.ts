import { print } from '@sluice/platform/process';
import type { Display } from './display.ts';
import { JsonDisplay } from './json-display.ts';
import { TextDisplay } from './text-display.ts';

export type OutputFormat = 'text' | 'json' | 'none';

/** The display of a run on standard output. `showsCluster`: there may be several clusters. */
export function createDisplay(output: OutputFormat, showsCluster = false): Display {
  const write = (text: string) => print(process.stdout, text);
  switch (output) {
    case 'json':
      return new JsonDisplay(write);
    case 'text':
      // A pipe or file has no width.
      return new TextDisplay(write, () => process.stdout.columns ?? Number.POSITIVE_INFINITY, showsCluster);
    case 'none':
      return { started() {}, synced() {}, applied() {}, ended() {} };
  }
}
