import { describe, expect, it } from 'vitest';
import { messagesOf } from './messages.ts';
import { checkPages, checkTexts, terms } from './prose.ts';

describe('checkPages', () => {
  it('names line, term and replacement', () => {
    const text = '# T\n\nA genuine server is told twice.';
    expect(checkPages([{ path: 'a.md', text }])).toEqual([
      { path: 'a.md', line: 3, message: '"told" is retired; use: publish, report, show or resync' },
      { path: 'a.md', line: 3, message: '"genuine" is retired; use: upstream (controllers) or real (servers)' },
    ]);
  });

  it('ignores code, link targets and parts of words', () => {
    const text = '`told` [x](told.md) untold\n\n    told\n\n```\ntold\n```\n\nA list:\n\n1. One\n   - `told`';
    expect(checkPages([{ path: 'a.md', text }])).toEqual([]);
  });
});

it('a term that comments may use is still rejected elsewhere', () => {
  const texts = [{ line: 1, text: 'the cursor of a genuine terminal' }];
  const wordsOf = (inComments: boolean) =>
    checkTexts('a.ts', texts, inComments).map(({ message }) => message.slice(1, 4));
  expect(wordsOf(true)).toEqual(['gen']);
  expect(wordsOf(false)).toEqual(['cur', 'gen']);
});

it('the terms compile, and no replacement is itself retired', () => {
  for (const { use } of terms) expect(checkTexts('terms.json', [{ line: 1, text: use }]), use).toEqual([]);
});

describe('messagesOf', () => {
  const found = (code: string) => messagesOf(code).map(({ line, text }) => `${line} ${text}`);

  it('finds log messages, but not their fields', () => {
    const code = "\nlogger.warn('one', { two: 'three' });\nthis.#logger.info(a ? 'four' : `five $" + '{b} six`);';
    expect(found(code)).toEqual(['2 one', '3 four', '3 five ', '3  six']);
  });

  it('finds errors, also of functions and constructors', () => {
    expect(found("new UsageError('one'); class E extends Error { constructor() { super(`two`); } }")).toEqual([
      '1 one',
      '1 two',
    ]);
  });

  it('finds help of commands, settings and metrics', () => {
    expect(
      found("c.option('--a', 'one').description('two'); setting(kind, 'three', {}); counter({ help: 'four' });"),
    ).toEqual(['1 two', '1 --a', '1 one', '1 three', '1 four']);
  });

  it('finds output of programs and their help', () => {
    expect(found("say(`one`); console.log('two'); const HELP = `usage: three`;")).toEqual([
      '1 one',
      '1 two',
      '1 usage: three',
    ]);
  });

  it('finds texts of the page without its markup', () => {
    expect(found('html`<p class="lane">one $' + '{x} two</p>`').map((text) => text.replace(/\s+/g, ' '))).toEqual([
      '1 one ',
      '1 two ',
    ]);
  });
});
