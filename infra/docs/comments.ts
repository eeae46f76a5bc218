import ts from 'typescript';
import type { Text } from './prose.ts';

/** The comments of a source, without the code that they quote in backticks. */
export function commentsOf(code: string): Text[] {
  const source = ts.createSourceFile('source.ts', code, ts.ScriptTarget.Latest, true);
  const starts = new Set<number>();
  const texts: Text[] = [];
  const collect = (range: ts.CommentRange) => {
    if (starts.has(range.pos)) return;
    starts.add(range.pos);
    const text = code.slice(range.pos, range.end).replace(/`[^`]*`/g, ' ');
    texts.push({ line: source.getLineAndCharacterOfPosition(range.pos).line + 1, text });
  };
  const visit = (node: ts.Node): void => {
    ts.getLeadingCommentRanges(code, node.getFullStart())?.forEach(collect);
    ts.getTrailingCommentRanges(code, node.end)?.forEach(collect);
    node.getChildren(source).forEach(visit);
  };
  visit(source);
  return texts;
}

/** The titles of suites and tests. */
export function titlesOf(code: string): Text[] {
  const source = ts.createSourceFile('source.ts', code, ts.ScriptTarget.Latest, true);
  const texts: Text[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node) && /^(?:describe|it|test)\b/.test(node.expression.getText())) {
      const [title] = node.arguments;
      if (title !== undefined && (ts.isStringLiteralLike(title) || ts.isTemplateExpression(title))) {
        const line = source.getLineAndCharacterOfPosition(title.getStart()).line + 1;
        texts.push({ line, text: title.getText().replace(/\$\{[^}]*\}/g, ' ') });
      }
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return texts;
}
