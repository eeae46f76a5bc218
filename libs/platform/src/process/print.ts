import colors from 'picocolors';
import { printable, printableInColor } from './printable.ts';
import { aboveBlock } from './redrawn-block.ts';

/** Standard output or standard error. */
interface Output {
  readonly isTTY?: boolean;
  write(text: string, done?: () => void): unknown;
}

/**
 * Prints a result, message or log line. All output passes here, because any part of it may come from an API server, a
 * message or a file. `done` is called once it is written.
 */
export function print(output: Output, text: string, done?: () => void): void {
  const write = () => void output.write(colors.isColorSupported ? printableInColor(text) : printable(text), done);
  if (output.isTTY) aboveBlock(write);
  else write();
}
