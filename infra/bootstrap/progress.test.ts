import { spawnSync } from 'node:child_process';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';

type Environment = Readonly<Record<string, string | undefined>>;
interface Stream {
  readonly isTTY: boolean;
  write(text: string): void;
}

// Plain JavaScript, because it runs before anything is installed.
const load = (file: string): Promise<unknown> => import(new URL(file, import.meta.url).href);
const { withColorSetting } = (await load('color.mjs')) as {
  readonly withColorSetting: (
    environment: Environment,
    output: { readonly terminal: boolean; readonly piped?: boolean },
  ) => Environment;
};
const { showProgress } = (await load('progress.mjs')) as {
  readonly showProgress: (stream: Stream, what: string) => () => void;
};
const { runQuietly } = (await load('root.mjs')) as {
  readonly runQuietly: (file: string, args: readonly string[]) => Promise<{ status: number; output: Buffer }>;
};

describe('all programs of npm test get one color setting', () => {
  const colors = { FORCE_COLOR: '1' };
  const none = { NO_COLOR: '1' };

  test.each<[Environment, boolean, Environment]>([
    [{}, true, {}],
    [{}, false, none],
    [{ CI: 'true' }, false, none],
    [{ TERM: 'dumb' }, true, none],
    [{ NO_COLOR: '1' }, true, none],
    [{ NO_COLOR: '' }, true, {}],
    [{ FORCE_COLOR: '1' }, false, colors],
    [{ FORCE_COLOR: '3' }, false, { FORCE_COLOR: '3' }],
    [{ FORCE_COLOR: '' }, false, colors],
    [{ FORCE_COLOR: '0' }, true, none],
    [{ FORCE_COLOR: 'false' }, true, none],
    [{ FORCE_COLOR: '1', NO_COLOR: '1' }, false, colors],
  ])('%j on a terminal: %j', (environment, terminal, expected) => {
    const { CI, TERM, ...setting } = withColorSetting(environment, { terminal });
    expect({ CI, TERM }).toEqual({ CI: environment.CI, TERM: environment.TERM });
    expect(setting).toEqual(expected);
  });

  test('a program whose output is passed on gets the setting of the terminal', () => {
    expect(withColorSetting({}, { terminal: true, piped: true })).toEqual(colors);
    expect(withColorSetting({}, { terminal: false, piped: true })).toEqual(none);
  });

  test('Node prints escape codes, or none, as it says', () => {
    const script = `console.log(require('node:util').styleText('red', 'x', { validateStream: true }))`;
    const printed = (environment: Environment, terminal: boolean) =>
      spawnSync(process.execPath, ['--eval', script], {
        env: { ...withColorSetting(environment, { terminal }) },
        encoding: 'utf8',
      });
    expect(printed({ CI: 'true' }, false)).toMatchObject({ stdout: 'x\n', stderr: '' });
    // Node warns if both variables are set.
    expect(printed({ NO_COLOR: '1', FORCE_COLOR: '1' }, false)).toMatchObject({
      stdout: '\u001b[31mx\u001b[39m\n',
      stderr: '',
    });
  });
});

describe('progress', () => {
  let written: string[];
  const stream = (isTTY: boolean): Stream => ({ isTTY, write: (text) => void written.push(text) });

  beforeEach(() => {
    written = [];
    vi.useFakeTimers();
  });
  afterEach(() => void vi.useRealTimers());

  test('is a line every 15 s without escape codes in a file', () => {
    const stop = showProgress(stream(false), '  types');
    vi.advanceTimersByTime(31_000);
    stop();
    vi.advanceTimersByTime(60_000);
    expect(written).toEqual(['  types, 15 s\n', '  types, 30 s\n']);
  });

  test('is a timer on a terminal, which is erased at the end', () => {
    const stop = showProgress(stream(true), '  types');
    vi.advanceTimersByTime(3_500);
    stop();
    expect(written).toEqual(['\r  types, 2 s ', '\r  types, 3 s ', '\r\u001b[K']);
  });

  test('does not show for a short wait', () => {
    const stop = showProgress(stream(true), '  types');
    vi.advanceTimersByTime(1_900);
    stop();
    expect(written).toEqual([]);
  });
});

test('the output of a check is complete, from stdout and stderr, with its exit status', async () => {
  const script = `process.stdout.write('x'.repeat(200_000)); process.stderr.write('failed'); process.exitCode = 3;`;
  const { status, output } = await runQuietly(process.execPath, ['--eval', script]);
  expect(status).toBe(3);
  expect(output.toString()).toHaveLength(200_006);
  expect(output.toString()).toContain('failed');
});
