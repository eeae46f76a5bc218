import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';

const root = join(import.meta.dirname, '../..');

/** A value that a page quotes, as the code has it. Durations are in milliseconds, sizes in bytes, shares in percent. */
export interface SourceValue {
  readonly kind: 'duration' | 'size' | 'count' | 'percent' | 'text';
  readonly value: number | string;
  /** Where a writer finds it: `maxSilenceMs in libs/fleet/src/ownership/ownership.ts`. */
  readonly source: string;
}

/** A constant in milliseconds. `name` may lead into an object: `retry.maxMs`. */
export const duration = (file: string, name: string): SourceValue => ofConstant('duration', file, name);
/** A constant in bytes. */
export const bytes = (file: string, name: string): SourceValue => ofConstant('size', file, name);
/** A constant without a unit, or with one that is no time or size. */
export const count = (file: string, name: string): SourceValue => ofConstant('count', file, name);
/** A text: a version. */
export const text = (file: string, name: string): SourceValue => ofConstant('text', file, name);
/** A constant between 0 and 1. */
export const share = (file: string, name: string): SourceValue => {
  const { value, source } = ofConstant('percent', file, name);
  return { kind: 'percent', value: Number(value) * 100, source };
};
/** A constant in seconds. */
export const seconds = (file: string, name: string): SourceValue => {
  const { value, source } = ofConstant('duration', file, name);
  return { kind: 'duration', value: Number(value) * 1_000, source };
};

/** The default of a setting, from the generated table in docs/reference/settings.md. */
export function setting(path: string, alternative = 0): SourceValue {
  const row = read('docs/reference/settings.md')
    .split('\n')
    .find((line) => line.startsWith(`| \`${path}\``));
  const text = [...(row?.split(' | ')[2] ?? '').matchAll(/`([^`]+)`/g)][alternative]?.[1];
  if (text === undefined) throw new Error(`the setting ${path} has no default`);
  const source = `default of ${path}`;
  const [, digits = '', unit = ''] = /^([\d.]+)(ms|s|m|h|Ki|Mi|Gi|)$/.exec(text) ?? [];
  if (digits === '') return { kind: 'text', value: text, source };
  const time = timeUnits[unit];
  if (time !== undefined) return { kind: 'duration', value: Number(digits) * time, source };
  const bytes = sizeUnits[unit];
  if (bytes !== undefined) return { kind: 'size', value: Number(digits) * bytes, source };
  return { kind: path.endsWith('Percent') ? 'percent' : 'count', value: Number(digits), source };
}

const timeUnits: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };
const sizeUnits: Readonly<Record<string, number>> = { Ki: 1024, Mi: 1024 ** 2, Gi: 1024 ** 3 };

/**
 * The number in the first group of a pattern, times `factor`: for manifests, alerts and modules, and for code without a
 * constant.
 */
export function written(kind: SourceValue['kind'], file: string, pattern: RegExp, factor = 1): SourceValue {
  const [line, found] = pattern.exec(read(file)) ?? [];
  if (line === undefined || found === undefined) throw new Error(`${file} does not contain ${pattern}`);
  const source = `"${line.replaceAll(/\s+/g, ' ')}" in ${file}`;
  return { kind, value: kind === 'text' ? found : Number(found.replaceAll('_', '')) * factor, source };
}

/** A multiple: `times(setting('partitions'), 2)`. */
export const times = ({ kind, value, source }: SourceValue, factor: number): SourceValue => ({
  kind,
  value: Number(value) * factor,
  source: `${factor} × ${source}`,
});

function ofConstant(kind: SourceValue['kind'], file: string, name: string): SourceValue {
  return { kind, value: constantIn(read(file), name), source: `${name} in ${file}` };
}

/** @throws if the code has no constant or property of that name whose value is a number or a text. */
export function constantIn(code: string, name: string): number | string {
  const source = ts.createSourceFile('source.ts', code, ts.ScriptTarget.Latest, true);
  const [first = '', ...rest] = name.split('.');
  let expression = initializerOf(source, first);
  for (const part of rest) expression = expression === undefined ? undefined : initializerOf(expression, part);
  const value = expression === undefined ? undefined : evaluate(source, expression);
  if (value === undefined) throw new Error(`no constant ${name}`);
  return value;
}

function initializerOf(within: ts.Node, name: string): ts.Expression | undefined {
  let found: ts.Expression | undefined;
  const visit = (node: ts.Node): void => {
    if (found !== undefined) return;
    if (
      (ts.isVariableDeclaration(node) || ts.isPropertyAssignment(node) || ts.isPropertyDeclaration(node)) &&
      node.name.getText().replace(/^['"]|['"]$/g, '') === name
    )
      found = node.initializer;
    if (ts.isParameter(node) && node.name.getText() === name) found = node.initializer;
    if (ts.isBindingElement(node) && node.name.getText() === name) found = node.initializer;
    if (found === undefined) ts.forEachChild(node, visit);
  };
  visit(within);
  return found;
}

function evaluate(source: ts.SourceFile, node: ts.Expression): number | string | undefined {
  if (ts.isNumericLiteral(node)) return Number(node.text);
  if (ts.isStringLiteralLike(node)) return node.text;
  if (ts.isParenthesizedExpression(node) || ts.isAsExpression(node) || ts.isSatisfiesExpression(node))
    return evaluate(source, node.expression);
  if (ts.isIdentifier(node)) {
    const initializer = initializerOf(source, node.text);
    return initializer === undefined ? undefined : evaluate(source, initializer);
  }
  if (!ts.isBinaryExpression(node)) return undefined;
  const [left, right] = [evaluate(source, node.left), evaluate(source, node.right)];
  if (node.operatorToken.kind === ts.SyntaxKind.QuestionQuestionToken) return right;
  if (typeof left !== 'number' || typeof right !== 'number') return undefined;
  return operations[node.operatorToken.kind]?.(left, right);
}

const operations: Readonly<Partial<Record<ts.SyntaxKind, (left: number, right: number) => number>>> = {
  [ts.SyntaxKind.AsteriskToken]: (left, right) => left * right,
  [ts.SyntaxKind.AsteriskAsteriskToken]: (left, right) => left ** right,
  [ts.SyntaxKind.SlashToken]: (left, right) => left / right,
  [ts.SyntaxKind.PlusToken]: (left, right) => left + right,
};

const texts = new Map<string, string>();

function read(file: string): string {
  const text = texts.get(file) ?? readFileSync(join(root, file), 'utf8');
  texts.set(file, text);
  return text;
}
