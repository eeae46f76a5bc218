import ts from 'typescript';

/** The titles of groups and tests in the source of a test file. */
export interface TestTitles {
  /** Without what is computed, or filled in by `each`. */
  readonly literal: readonly string[];
  /** What titles with such parts look like. */
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
    const parts = partsOf(title);
    literal.push(parts.join(''));
    if (parts.length > 1) patterns.push(new RegExp(`^${parts.map(RegExp.escape).join('.*')}$`, 's'));
  };
  visit(file);
  return { literal, patterns };
}

/** The text of a title between what is computed or filled in. */
function partsOf(title: ts.Expression): readonly string[] {
  if (ts.isStringLiteralLike(title)) return title.text.split(/%[a-z]|\$[\w.]+/);
  if (!ts.isTemplateExpression(title)) return ['', ''];
  return [title.head.text, ...title.templateSpans.map((span) => span.literal.text)];
}

/** Whether a test reference can mean a test with one of the titles. */
export function hasTitle({ literal, patterns }: TestTitles, wanted: string): boolean {
  return wanted
    .split(' > ')
    .every((part) => literal.some((one) => one.includes(part)) || patterns.some((pattern) => pattern.test(part)));
}
