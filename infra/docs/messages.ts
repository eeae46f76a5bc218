import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import type { Finding } from './markdown.ts';
import { checkTexts, mentionsRetired, type Text } from './prose.ts';

const folders = '{libs,services,demo,fake-apiserver,bench,chaos,conformance,tests}';

/** Every retired term in log messages, errors and help texts of the sources. */
export function checkSources(root: string): Finding[] {
  const paths = globSync(`${folders}/**/*.ts`, { cwd: root, exclude: (name) => name === 'node_modules' });
  return paths
    .filter((path) => !path.endsWith('.test.ts') && !path.includes('/testing/'))
    .sort()
    .flatMap((path) => {
      const code = readFileSync(join(root, path), 'utf8');
      return mentionsRetired(code) ? checkTexts(path, messagesOf(code)) : [];
    });
}

const logMethods = new Set(['debug', 'info', 'warn', 'error']);
const helpMethods = new Set([
  'description',
  'summary',
  'option',
  'requiredOption',
  'argument',
  'command',
  'addHelpText',
]);
const helpProperties = new Set(['help', 'about', 'advice', 'hint', 'summary', 'description']);

/** The texts of a source that people read: log messages, errors, help of commands, settings and metrics, the page. */
export function messagesOf(code: string): Text[] {
  const source = ts.createSourceFile('source.ts', code, ts.ScriptTarget.Latest, true);
  const texts: Text[] = [];
  const collect = (node: ts.Node, clean: (text: string) => string = (text) => text) => {
    for (const [child, text] of literalsIn(node)) {
      texts.push({ line: source.getLineAndCharacterOfPosition(child.getStart()).line + 1, text: clean(text) });
    }
  };
  const visit = (node: ts.Node): void => {
    for (const part of readable(node)) collect(part);
    if (ts.isTaggedTemplateExpression(node) && node.tag.getText() === 'html') {
      collect(node.template, (text) => text.replace(/<[^>]*>?|^[^<]*>/g, ' '));
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return texts;
}

/** The parts of a node that hold text for people. */
function readable(node: ts.Node): readonly ts.Node[] {
  if (ts.isPropertyAssignment(node) && helpProperties.has(node.name.getText())) return [node.initializer];
  if (ts.isNewExpression(node))
    return /(?:Error|^Option)$/.test(node.expression.getText()) ? (node.arguments ?? []) : [];
  if (!ts.isCallExpression(node)) return [];
  const name = ts.isPropertyAccessExpression(node.expression) ? node.expression.name.text : node.expression.getText();
  if (logMethods.has(name)) return node.arguments.slice(0, 1);
  if (helpMethods.has(name) || name === 'setting' || name === 'super' || /Error$/.test(name)) return node.arguments;
  return [];
}

/** The string literals in an expression, but for those in functions, objects and nested templates of the page. */
function literalsIn(node: ts.Node): [ts.Node, string][] {
  if (ts.isStringLiteralLike(node) || ts.isTemplateHead(node) || ts.isTemplateMiddleOrTemplateTail(node)) {
    return [[node, node.text]];
  }
  if (ts.isObjectLiteralExpression(node) || ts.isFunctionLike(node) || ts.isElementAccessExpression(node)) return [];
  const found: [ts.Node, string][] = [];
  ts.forEachChild(node, (child) => void found.push(...literalsIn(child)));
  return found;
}
