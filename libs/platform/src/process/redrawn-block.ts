import { printableInColor } from './printable.ts';

/** Size of a terminal, in characters. */
export interface PageSize {
  readonly width: number;
  readonly height: number;
}

/** Standard output, if it is a terminal. */
export interface TerminalOutput {
  write(text: string): unknown;
}

const up = (lines: number) => (lines === 0 ? '' : `\u001b[${lines}A`);
const clearBelow = '\r\u001b[J';

/** What is drawn at the end of the terminal, which a process has once. */
let drawn: RedrawnBlock | undefined;

/** Lines at the end of the output of a terminal, redrawn in place. What `print` prints meanwhile stays above them. */
export class RedrawnBlock {
  readonly #output: TerminalOutput;
  #lines: readonly string[] = [];

  constructor(output: TerminalOutput) {
    this.#output = output;
  }

  /** `lines`: no wider than the terminal; colours may stay. */
  draw(lines: readonly string[]): void {
    this.#output.write(`${up(this.#lines.length)}${clearBelow}${textOf(lines)}`);
    this.#lines = lines;
    drawn = this;
  }

  erase(): void {
    this.draw([]);
    this.leave();
  }

  /** Leaves the lines where they are; the next ones are drawn below. */
  leave(): void {
    this.#lines = [];
    drawn = undefined;
  }

  /** Writes whole lines above the block. */
  above(write: () => void): void {
    const lines = this.#lines;
    this.erase();
    write();
    this.draw(lines);
  }
}

const textOf = (lines: readonly string[]): string => lines.map((line) => `${printableInColor(line)}\n`).join('');

/** Writes whole lines above the block that is drawn, if one is. */
export function aboveBlock(write: () => void): void {
  if (drawn === undefined) write();
  else drawn.above(write);
}
