/**
 * What the test processes of a run leave in the working copy: events, and a byte per mutant, so that no test looks for a
 * mutant that another one has detected. Paths are below the current directory, which is the working copy.
 */
import {
  appendFileSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';

/** How tests detect a mutant: they fail, or they do not end. */
export type Detection = 'killed' | 'timeout';

/** A test, as it is without mutants. */
export interface TestEvent {
  readonly kind: 'test';
  readonly id: string;
  readonly name: string;
  readonly file: string;
  readonly cpuMs: number;
  readonly result: 'passed' | 'failed' | 'slow';
  /** Hits of each mutant that it reaches. */
  readonly hits: Readonly<Record<string, number>>;
}

export type RunEvent =
  | TestEvent
  /** All mutants that the test reaches were tried with it. */
  | { readonly kind: 'done'; readonly test: string }
  /** The test failed without a mutant, for the first time. */
  | { readonly kind: 'failed'; readonly test: string }
  | { readonly kind: 'detected'; readonly mutant: string; readonly test: string; readonly by: Detection }
  /** The test failed, and then without the mutant too: an earlier mutant may have left state behind. */
  | { readonly kind: 'unconfirmed'; readonly mutant: string; readonly test: string }
  /** The test reaches the mutant, but did not in this run. */
  | { readonly kind: 'unreached'; readonly mutant: string; readonly test: string }
  /** Some tests of the file were not tried with all mutants, because the process ended each time. */
  | { readonly kind: 'abandoned'; readonly file: string }
  /** Mutants reached while the file was loaded, and the number of its tests. */
  | { readonly kind: 'loaded'; readonly file: string; readonly mutants: readonly string[]; readonly tests: number };

export interface Settings {
  readonly files: readonly string[];
  readonly workers: number;
  /** Tests that take more CPU time wait for a later round, when few mutants are left. */
  readonly laterMs: number;
  /** Tests that take more CPU time are not used. */
  readonly slowMs: number;
}

const directory = '.mutation';
const settingsFile = join(directory, 'settings.json');
const eventsFile = join(directory, 'events.jsonl');
const detectedFile = join(directory, 'detected');
const runningFile = (worker: number) => join(directory, `running-${worker}.json`);

/** Forgets an earlier run. */
export function startRecord(): void {
  rmSync(directory, { recursive: true, force: true });
  mkdirSync(directory);
  for (const file of [eventsFile, detectedFile]) writeFileSync(file, '');
}

export const writeSettings = (settings: Settings): void => writeFileSync(settingsFile, JSON.stringify(settings));

export const readSettings = (): Settings => JSON.parse(readFileSync(settingsFile, 'utf8'));

export function record(event: RunEvent): void {
  if (event.kind === 'detected') markDetected(Number(event.mutant));
  appendFileSync(eventsFile, `${JSON.stringify(event)}\n`);
}

function markDetected(mutant: number): void {
  const file = openSync(detectedFile, 'r+');
  writeSync(file, Buffer.of(1), 0, 1, mutant);
  closeSync(file);
}

export function readEvents(): readonly RunEvent[] {
  return readFileSync(eventsFile, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
}

/** Which mutants any process has detected so far. */
export function readDetected(): (mutant: string) => boolean {
  const bytes = readFileSync(detectedFile);
  return (mutant) => bytes[Number(mutant)] === 1;
}

/** What a test process is trying, for the process that ends it if it hangs. */
export interface Running {
  readonly mutant: string | undefined;
  readonly test: string;
  /** Milliseconds since the epoch. */
  readonly since: number;
}

export class RunningFile {
  readonly #file: number;

  constructor(worker: number) {
    this.#file = openSync(runningFile(worker), 'w');
  }

  /** Written in place, because it happens for each mutant. */
  set(running: Running): void {
    writeSync(this.#file, JSON.stringify(running).padEnd(500), 0);
  }
}

export function readRunning(workers: number): readonly Running[] {
  return Array.from({ length: workers }, (_, index) => runningFile(index + 1)).flatMap((file) => {
    if (!existsSync(file)) return [];
    try {
      return [JSON.parse(readFileSync(file, 'utf8'))];
    } catch {
      // It is being written; it is complete the next time.
      return [];
    }
  });
}

export function readProgress(): { readonly detected: number; readonly done: number; readonly tests: number } {
  const progress = { detected: 0, done: 0, tests: 0 };
  if (!existsSync(eventsFile)) return progress;
  const loaded = new Map<string, number>();
  for (const event of readEvents()) {
    if (event.kind === 'done') progress.done += 1;
    if (event.kind === 'loaded') loaded.set(event.file, event.tests);
  }
  const tests = [...loaded.values()].reduce((a, b) => a + b, 0);
  return { ...progress, detected: readFileSync(detectedFile).filter((byte) => byte === 1).length, tests };
}
