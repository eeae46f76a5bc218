import { stripVTControlCharacters } from 'node:util';
import { watcherStarted } from '@sluice/messages';
import { describe, expect, test, vi } from 'vitest';
import { Statistics } from './display.ts';
import { anApplied, type GivenApplied } from './testing/applied.ts';
import { TextDisplay } from './text-display.ts';

// Before the display is loaded, which reads it once.
vi.hoisted(() => {
  process.env.FORCE_COLOR = '1';
  delete process.env.NO_COLOR;
});

const colorCode = new RegExp(`${String.fromCharCode(27)}\\[([0-9;]*)m`, 'g');
const plain = stripVTControlCharacters;

/** The lines as written, with colours. */
function colored(width: number, show: (display: TextDisplay) => void): string[] {
  let out = '';
  show(
    new TextDisplay(
      (text) => (out += text),
      () => width,
    ),
  );
  return out.split('\n').slice(0, -1);
}

function shown(...given: GivenApplied[]): string[] {
  const lines = colored(160, (display) => {
    for (const one of given) display.applied(anApplied(one));
  });
  // The time of day depends on the time zone.
  return lines.map((line) =>
    plain(line)
      .replace(/^\d\d:\d\d:\d\d\.\d{3} {2}/, '> ')
      .trim(),
  );
}

const written = (name: string) =>
  expect.stringMatching(new RegExp(`^\\+ EndpointSlice shop/${name} +1/2 ready +3.2 ms$`));

describe('writes', () => {
  test('follow a heading with their cause', () => {
    expect(shown({ slices: ['a'] }, { slices: ['b', 'c'] }, { slices: ['d'], causes: ['Node n1 deleted'] })).toEqual([
      '> Pod shop/web-1 became ready',
      ...['a', 'b', 'c'].map(written),
      '> Node n1 deleted',
      written('d'),
    ]);
  });

  test('of another Service have their own heading, even for the same cause', () => {
    const causes = ['Node n1 deleted'];
    expect(shown({ slices: ['a'], causes }, { slices: ['b'], causes, service: 'db' })).toHaveLength(4);
  });

  test('for the same cause at another time have their own heading', () => {
    expect(shown({ slices: ['a'] }, { slices: ['b'], observedAt: 2 })).toHaveLength(4);
  });

  test.each([
    [[], 0, '> retry'],
    [['x', 'y'], 0, '> x, and 1 more'],
    [['x', 'y'], 9, '> x, and 10 more'],
  ])('with several causes show the first: %j and %i', (causes, more, heading) => {
    expect(shown({ causes, more })[0]).toBe(heading);
  });

  test('are not shown for an empty plan', () => {
    expect(shown({ slices: [] })).toEqual([]);
  });

  test('are not shown for a plan that went back without a request, as in a take-over', () => {
    for (const status of ['conflict', 'unavailable'] as const) {
      expect(shown({ status, message: 'a former owner may have applied it', slices: [] })).toEqual([]);
    }
  });

  test('show the reason of a failure', () => {
    expect(shown({ status: 'rejected', message: 'forbidden', slices: ['a'] }).slice(1)).toEqual([
      expect.stringMatching(/^! EndpointSlice shop\/a +create failed, nothing written$/),
      '! rejected: forbidden',
    ]);
    expect(shown({ status: 'namespaceTerminating', slices: [] }).at(-1)).toContain('the namespace is terminating');
  });

  test('of the initial sync are shown for the first Services only', () => {
    const services = Array.from({ length: 40 }, (_, i) => ({
      service: `s${i}`,
      slices: [`x${i}`],
      causes: [watcherStarted],
    }));
    const lines = shown(...services, { slices: ['later'] });
    expect(lines.filter((line) => line.startsWith('+'))).toHaveLength(13);
    expect(lines.filter((line) => line.includes('more Services omitted'))).toHaveLength(1);
    expect(lines.filter((line) => line.includes(watcherStarted))).toHaveLength(1);
    expect(lines.at(-1)).toEqual(written('later'));
  });
});

describe('the width', () => {
  const show = (display: TextDisplay) => {
    display.applied(anApplied({ causes: ['y'.repeat(200)], slices: ['z'.repeat(60)] }));
    display.applied(anApplied({ status: 'rejected', message: 'm'.repeat(500) }));
    display.ended(new Statistics(), 5);
  };

  test.each([10, 16, 17, 20, 40, 79, 80, 120, 300])('fits into %i columns', (width) => {
    for (const line of colored(width, show)) expect(plain(line).length, line).toBeLessThanOrEqual(width);
  });

  test('lines at startup are wrapped between words and never truncated', () => {
    const started = (width: number) => colored(width, (display) => display.started(['aaa bbb http://127.0.0.1:10270']));
    expect(started(30)).toEqual(['aaa bbb http://127.0.0.1:10270', '']);
    expect(started(10)).toEqual(['aaa bbb', '  http://127.0.0.1:10270', '']);
  });

  test('indented lines at startup are commands and stay whole', () => {
    const command = '  kubectl get pods';
    expect(colored(10, (display) => display.started([command]))).toEqual([command, '']);
  });

  test('in 60 columns, nothing is lost', () => {
    const name = 'checkout-service-with-a-long-name-x7k2p';
    const lines = colored(60, (display) => {
      display.applied(
        anApplied({ slices: [name], causes: ['Pod shop/checkout-service-with-a-long-name-1 became not ready'] }),
      );
      display.ended(new Statistics(), 5);
    }).map(plain);
    for (const line of lines) expect(line.length, line).toBeLessThanOrEqual(60);
    expect(lines.slice(1, 4)).toEqual([
      '              became not ready',
      expect.stringMatching(/^ {2}\+ EndpointSlice shop\/checkout.*….*with-a-long-name-x7k2p$/),
      '    1/2 ready  3.2 ms',
    ]);
    expect(lines.join(' ').replaceAll(/\s+/g, ' ')).toContain('0 refused plans, 0 retries, 0 malformed objects');
  });

  test('a truncated line resets colours and contains no partial escape code', () => {
    for (let width = 2; width < 120; width++) {
      for (const line of colored(width, show)) {
        const codes = [...line.matchAll(colorCode)].map(([, code]) => code);
        expect(plain(line), `width ${width}: ${JSON.stringify(line)}`).not.toContain('\u001b');
        if (codes.length > 0)
          expect(['0', '22', '39'], `width ${width}: ${JSON.stringify(line)}`).toContain(codes.at(-1));
      }
    }
  });
});

test('names the cluster if there may be several', () => {
  let out = '';
  const display = new TextDisplay(
    (text) => (out += text),
    () => 160,
    true,
  );
  display.applied(anApplied());
  expect(plain(out)).toMatch(/^\d\d:\d\d:\d\d\.\d{3} {2}sim {2}Pod shop\/web-1 became ready\n/);
});

test('prints a summary at the end', () => {
  const statistics = new Statistics();
  statistics.add(anApplied({ slices: ['a', 'b'], latencyMs: 4 }));
  statistics.add(anApplied({ status: 'conflict', retries: 2, service: 'db', latencyMs: 8 }));
  statistics.add(anApplied({ status: 'rejected', message: 'denied by a webhook', service: 'db', latencyMs: 1 }));
  const text = plain(colored(200, (display) => display.ended(statistics, 61_000)).join('\n'));
  expect(text).toContain('Ran 61 s');
  expect(text).toContain('2 objects for 2 Services: 2 created, 0 updated, 0 deleted');
  expect(text).toContain('p50 4.0 ms, p99 8.0 ms, max 8.0 ms');
  expect(text).toContain('1 conflict, 1 refused plan, 2 retries, 0 malformed objects');
  expect(text).not.toContain('clusters');
  expect(text).toContain('the API server still refuses 1 write:\n    sim/shop/db/endpointslice: denied by a webhook');
});

test('the summary names clusters that are not served at the end', () => {
  const clusters = [
    { name: 'east', phase: 'serving' },
    { name: 'west', phase: 'unavailable' },
  ];
  const text = plain(colored(200, (display) => display.ended(new Statistics(), 5, clusters)).join('\n'));
  expect(text).toContain('  clusters  1 serving, west unavailable');
});
