import type { Display } from './display.ts';
import { JsonDisplay } from './json-display.ts';
import { TextDisplay } from './text-display.ts';

export type OutputFormat = 'text' | 'json' | 'none';

/** The display of a run on standard output. */
export function createDisplay(output: OutputFormat): Display {
  const write = (text: string) => void process.stdout.write(text);
  switch (output) {
    case 'json':
      return new JsonDisplay(write);
    case 'text':
      return new TextDisplay(write, () => process.stdout.columns ?? 120);
    case 'none':
      return { started() {}, synced() {}, applied() {}, ended() {} };
  }
}
