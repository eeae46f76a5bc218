import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { analyse } from 'scslre';
import ts from 'typescript';
import { describe, expect, test } from 'vitest';

const root = join(import.meta.dirname, '../..');

/** Expressions that can take more than linear time, or are composed when the program runs, and why they may. */
const exceptions: Readonly<Record<string, string>> = {
  'libs/platform/src/redact.ts: composed': 'its test redacts megabytes of what would make each of them slow',
  'services/sluice/src/cli/help.ts: /\\s*\\n\\s*/g': 'reads descriptions of options only',
};

/** The regular expressions of a file that may take more than linear time for some text. */
function slowExpressions(file: string, text: string): string[] {
  const slow: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isRegularExpressionLiteral(node) && !isLinear(node.text)) slow.push(`${file}: ${node.text}`);
    if ((ts.isNewExpression(node) || ts.isCallExpression(node)) && node.expression.getText() === 'RegExp')
      slow.push(`${file}: composed`);
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true));
  return slow;
}

/** Also the search for a match counts: one that fails late at each position takes quadratic time. */
function isLinear(literal: string): boolean {
  const end = literal.lastIndexOf('/');
  const { reports } = analyse({ source: literal.slice(1, end), flags: literal.slice(end + 1) });
  return reports.length === 0;
}

describe('regular expressions', () => {
  test.each([
    ['/(a+)+b/', false],
    ['/\\s+$/', false],
    ['/^(\\w+):? ?(.*)$/', false],
    ['/(?<!\\/)\\/+$/', true],
    ['/^\\s+/', true],
    ['/[^\\p{L}]x/v', true],
  ])('%s takes linear time: %s', (literal, expected) => {
    expect(isLinear(literal)).toBe(expected);
  });

  test('of libraries and services take linear time for any text', () => {
    const files = globSync('{libs,services}/*/{src,page}/**/*.ts', { cwd: root }).filter(
      (file) => !/\.test\.ts$|\/testing\//.test(file),
    );
    expect(files.length).toBeGreaterThan(500);
    const slow = files.flatMap((file) => slowExpressions(file, readFileSync(join(root, file), 'utf8')));
    expect([...new Set(slow)].sort()).toEqual(Object.keys(exceptions).sort());
  });
});
