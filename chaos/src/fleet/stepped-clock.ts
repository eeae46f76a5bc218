/**
 * Preloaded by a process to shift its system clock (`node --import stepped-clock.ts?offset=FILE`): the file contains the
 * milliseconds to add. It is read again and again, in each thread, because no signal reaches a worker thread.
 */
import { readFileSync } from 'node:fs';

const pollMs = 50;
const file = new URL(import.meta.url).searchParams.get('offset') ?? '';
const systemNow = Date.now;
let offsetMs = 0;

function readOffset(): void {
  offsetMs = Number(readFileSync(file, 'utf8'));
}

class SteppedDate extends Date {
  constructor(...given: readonly unknown[]) {
    // Date has several signatures; the arguments pass unchanged.
    super(...((given.length === 0 ? [systemNow() + offsetMs] : given) as [number]));
  }

  static override now(): number {
    return systemNow() + offsetMs;
  }
}

readOffset();
globalThis.Date = SteppedDate as DateConstructor;
setInterval(readOffset, pollMs).unref();
