import { expect, it } from 'vitest';
import { commentsOf, titlesOf } from './comments.ts';
import { checkTexts } from './prose.ts';

const trimmed = (texts: readonly { line: number; text: string }[]) =>
  texts.map(({ line, text }) => `${line} ${text.replace(/[\s*/]+/g, ' ').trim()}`);

it('finds comments of all kinds once, without the code they quote', () => {
  const code = [
    '/** One `told` two. */',
    'const a = 1; // three',
    'const b = `// none ${',
    '/* four */ a}`;',
    '// five',
  ];
  expect(trimmed(commentsOf(code.join('\n')))).toEqual(['1 One two.', '2 three', '4 four', '5 five']);
});

it('finds the titles of suites and tests, but no other texts', () => {
  const code = [
    "describe('one', () => {",
    '  it(`two $' + "{a} three`, () => expect('four').toBe('four'));",
    "  test.each(['five'])('six %s', () => {});",
    "  testing('seven');",
    '});',
  ];
  expect(titlesOf(code.join('\n')).map(({ line, text }) => `${line} ${text}`)).toEqual([
    "1 'one'",
    '2 `two   three`',
    "3 'six %s'",
  ]);
});

it('finds a term across lines and reports the line where it starts', () => {
  const comments = commentsOf('const a = 1;\n/**\n * So it must go\n * on.\n */\nconst b = 2;');
  expect(checkTexts('a.ts', comments)).toEqual([
    { path: 'a.ts', line: 3, message: '"go on" is retired; use: continue' },
  ]);
});
