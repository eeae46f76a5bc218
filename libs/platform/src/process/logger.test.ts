import { spawnSync } from 'node:child_process';
import { stripVTControlCharacters } from 'node:util';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { knownSecrets, type LogFields, type Logger, VirtualClock } from '../index.ts';
import { advance } from '../testing/index.ts';
import { createLogger, nameClusters } from './logger.ts';

describe('logger', () => {
  const terminal = { isTTY: process.stderr.isTTY, columns: process.stderr.columns };
  let lines: string[];

  beforeEach(() => {
    lines = [];
    vi.spyOn(process.stderr, 'write').mockImplementation((text) => {
      lines.push(String(text));
      return true;
    });
  });

  afterEach(() => {
    vi.restoreAllMocks();
    Object.assign(process.stderr, { isTTY: terminal.isTTY, columns: terminal.columns });
  });

  test('an event is one line with the fields of its logger and its own', () => {
    const logger = createLogger('text', 'info').with({ role: 'writer' });
    logger.warn('plan not applied', { reason: 'line 1\nline 2', trace_id: 'abc', error: new TypeError('no token') });
    expect(lines).toEqual([
      expect.stringMatching(
        /^.*warn.* plan not applied .*role=.*writer .*reason=.*"line 1\\nline 2" .*trace_id=.*abc .*error=.*"TypeError: no token"\n$/,
      ),
    ]);
  });

  test('numbers are rounded', () => {
    createLogger('text', 'info').warn('x', { delayMs: 192.60603794340685, share: 0.012345, offset: 1204567, none: 0 });
    expect(stripVTControlCharacters(lines[0] ?? '')).toContain(' delayMs=193 share=0.0123 offset=1204567 none=0\n');
  });

  test('a time is local, as in the output beside the log', () => {
    const at = new Date(2020, 0, 31, 23, 59, 58);
    createLogger('text', 'info').warn('x', { since: at.toISOString(), reason: `lost at ${at.toISOString()}` });
    expect(stripVTControlCharacters(lines[0] ?? '')).toContain(
      ' since="2020-01-31 23:59:58" reason="lost at 2020-01-31 23:59:58"\n',
    );
  });

  test('on a terminal, a long line wraps with an indent; in a pipe, an event is one line', () => {
    Object.assign(process.stderr, { isTTY: false });
    const event = () => {
      createLogger('text', 'info').warn('cluster not responding', { cluster: 'west', reason: 'x'.repeat(50) });
      return stripVTControlCharacters(lines.pop() ?? '');
    };
    expect(event().split('\n')).toHaveLength(2);
    Object.assign(process.stderr, { isTTY: true, columns: 60 });
    expect(event()).toBe(`warn  cluster not responding cluster=west\n      reason=${'x'.repeat(50)}\n`);
  });

  test('a field cannot send escape codes to the terminal', () => {
    createLogger('text', 'info').warn('x', { error: '\u001b[2Jowned', list: ['\u009b2J'] });
    expect(lines[0]).toContain('\\u001b[2Jowned');
    expect(lines[0]).toContain('["\\u009b2J"]');
  });

  test('changing the level of the root logger applies to all its child loggers', () => {
    const root = createLogger('text', 'info');
    const child = root.with({ role: 'writer' }).with({ partition: 3 });
    child.debug('one');
    root.level = 'debug';
    child.debug('two');
    root.level = 'error';
    child.warn('three');
    root.error('four');
    expect(lines.map((line) => /one|two|three|four/.exec(line)?.[0])).toEqual(['two', 'four']);
  });

  test('a JSON line is an object with time, level and msg', () => {
    const module = JSON.stringify(new URL('./logger.ts', import.meta.url).href);
    const script = `import(${module}).then(({ createLogger }) => {
    const logger = createLogger('json', 'info').with({ role: 'writer' });
    logger.debug('not shown');
    logger.warn('two\\nlines', { reason: 'a\\nb' });
  })`;
    const { stderr } = spawnSync(process.execPath, ['--eval', script], { encoding: 'utf8' });
    const [line = '', ...others] = stderr.split('\n');
    expect(others).toEqual(['']);
    expect(JSON.parse(line)).toEqual({
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      level: 'warn',
      msg: 'two\nlines',
      role: 'writer',
      reason: 'a\nb',
    });
  });

  test.each([
    ['a name', 'n'.repeat(100_000)],
    ['an error', new Error('n'.repeat(100_000))],
    ['a list', ['n'.repeat(50_000), 'n'.repeat(50_000)]],
  ])('%s of 100,000 characters is cut', (_, value) => {
    createLogger('text', 'info').warn('x', { value });
    expect(lines[0]?.length).toBeLessThan(4_300);
    expect(lines[0]).toMatch(/… \(100\d{3} characters\)"?\n$/);
  });

  test('no field and no error shows a secret of the process, wherever it is and however long the text', () => {
    const owner = {};
    const secret = 'opaque-value-of-a-token';
    knownSecrets.remember(owner, [secret]);
    try {
      const logger = createLogger('text', 'info').with({ bound: secret });
      const cutInTwo = `${'x '.repeat(2_040)}${secret}`;
      logger.warn(`cannot log in with ${secret}`, {
        ...{ error: new Error(secret), list: [secret], nested: { reason: secret }, cutInTwo },
        ...{ manyAndCut: `${secret} `.repeat(341).padEnd(8_185) + secret },
      });
    } finally {
      knownSecrets.forget(owner);
    }
    expect(lines[0]).not.toContain('opaque');
    expect(stripVTControlCharacters(lines[0] ?? '')).toMatch(
      /^warn {2}cannot log in with \*\*\* bound=\*\*\* error="Error: \*\*\*" list=/,
    );
  });

  test('an object is redacted by the names in it', () => {
    createLogger('text', 'info').warn('x', { settings: { password: 'hunter2' }, kept: { scopes: ['a'] } });
    expect(lines[0]).not.toContain('hunter2');
    expect(lines[0]).toContain('{"scopes":["a"]}');
  });

  test('an event of many objects is logged a hundred times a minute for each cluster, and then how many are missing', async () => {
    const clock = new VirtualClock();
    const logger = createLogger('text', 'debug', clock);
    const count = (pattern: RegExp) => lines.filter((line) => pattern.test(stripVTControlCharacters(line))).length;
    for (let n = 0; n < 1_000; n++) {
      logger.warn('object ignored', { key: `west/shop/web-${n}` });
      logger.debug('object read', { key: `west/shop/web-${n}` });
    }
    logger.warn('object ignored', { key: 'east/shop/web' });
    logger.warn('watch failed', { cluster: 'west' });
    expect([count(/ignored key=west/), count(/read key=west/)]).toEqual([100, 1_000]);
    expect([count(/ignored key=east/), count(/watch failed/), count(/suppressed/)]).toEqual([1, 1, 0]);
    await advance(clock, 60_000);
    logger.info('another');
    expect(count(/^warn {2}log lines suppressed event="object ignored" cluster=west suppressed=900$/m)).toBe(1);
    logger.warn('object ignored', { key: 'west/shop/web' });
    expect(count(/ignored key=west/)).toBe(101);
  });
});

function recorder(lines: LogFields[], bound: LogFields = {}): Logger {
  const write = (_: string, fields?: LogFields) => void lines.push({ ...bound, ...fields });
  return {
    ...{ debug: write, info: write, warn: write, error: write },
    with: (fields) => recorder(lines, { ...bound, ...fields }),
  };
}

test('log lines have the names of clusters, also of those known later; identities and other fields stay', () => {
  const lines: LogFields[] = [];
  const names = new Map([['uid-1', 'west']]);
  const logger = nameClusters(recorder(lines), names);
  logger.error('plan not applied', { key: 'uid-1/shop/cart', reason: 'uid-1 differs', identity: 'uid-1' });
  const bound = logger.with({ group: 'watcher/uid-1', partition: 3 });
  bound.info('leases acquired');
  bound.warn('gap in change log', { cluster: 'uid-2' });
  names.set('uid-2', 'east');
  bound.debug('gap in change log', { cluster: 'uid-2', service: 'uid-2/shop/cart' });
  expect(lines).toEqual([
    { key: 'west/shop/cart', reason: 'uid-1 differs', identity: 'uid-1' },
    { group: 'watcher/west', partition: 3 },
    { group: 'watcher/west', partition: 3, cluster: 'uid-2' },
    { group: 'watcher/west', partition: 3, cluster: 'east', service: 'east/shop/cart' },
  ]);
});
