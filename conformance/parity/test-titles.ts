import ts from 'typescript';

/** The titles of groups and tests in the source of a test file. */
export interface TestTitles {
  readonly literal: readonly string[];
  /** What titles that are computed, or filled in by `each`, look like. */
  readonly patterns: readonly RegExp[];
}

export function testTitles(source: string): TestTitles {
  const file = ts.createSourceFile('source.test.ts', source, ts.ScriptTarget.Latest, true);
  const [literal, patterns]: [string[], RegExp[]] = [[], []];
  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node) && /^(?:describe|it|test)\b/.test(node.expression.getText())) {
      const [title] = node.arguments;
      // `each` gets rows, and other modifiers get conditions.
      if (title !== undefined && node.arguments.length > 1) add(title);
    }
    ts.forEachChild(node, visit);
  };
  const add = (title: ts.Expression): void => {
    if (!ts.isStringLiteralLike(title)) {
      const parts = ts.isTemplateExpression(title)
        ? [title.head.text, ...title.templateSpans.map((span) => span.literal.text)]
        : ['', ''];
      patterns.push(patternOf(parts));
      return;
    }
    literal.push(title.text);
    const parts = title.text.split(/%[a-z]|\$[\w.]+/);
    if (parts.length > 1) patterns.push(patternOf(parts));
  };
  visit(file);
  return { literal, patterns };
}

const patternOf = (parts: readonly string[]): RegExp => new RegExp(`^${parts.map(RegExp.escape).join('.*')}$`, 's');

/** Whether a test reference can mean a test with one of the titles. */
export function hasTitle({ literal, patterns }: TestTitles, wanted: string): boolean {
  return wanted
    .split(' > ')
    .every((part) => literal.some((one) => one.includes(part)) || patterns.some((pattern) => pattern.test(part)));
}
