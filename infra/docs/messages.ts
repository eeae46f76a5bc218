import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { commentsOf, titlesOf } from './comments.ts';
import type { Finding } from './markdown.ts';
import { checkTexts, mentionsRetired, type Text } from './prose.ts';

const folders = '{libs,services,demo,fake-apiserver,bench,chaos,conformance,tests,infra}';

/** Every retired term in the comments, test titles, messages and help texts of the sources. */
export function checkSources(root: string): Finding[] {
  const paths = globSync(`${folders}/**/*.{ts,mjs}`, { cwd: root, exclude: (name) => name === 'node_modules' });
  return paths.sort().flatMap((path) => {
    const code = readFileSync(join(root, path), 'utf8');
    if (!mentionsRetired(code)) return [];
    const comments = checkTexts(path, commentsOf(code), true);
    if (path.includes('/testing/')) return comments;
    if (path.endsWith('.test.ts')) return [...comments, ...checkTexts(path, titlesOf(code), true)];
    return [...comments, ...checkTexts(path, messagesOf(code))];
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
/** `say` prints progress. */
const otherFunctions = new Set(['setting', 'super', 'say']);
const helpProperties = new Set(['help', 'about', 'advice', 'hint', 'summary', 'description']);

/** The texts of a program that people read: output, log messages, errors, help of commands, settings and metrics, the page. */
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
  if (ts.isVariableDeclaration(node) && /^(?:HELP|help)$/.test(node.name.getText()) && node.initializer !== undefined)
    return [node.initializer];
  if (ts.isNewExpression(node))
    return /(?:Error|^Option)$/.test(node.expression.getText()) ? (node.arguments ?? []) : [];
  if (!ts.isCallExpression(node)) return [];
  const name = ts.isPropertyAccessExpression(node.expression) ? node.expression.name.text : node.expression.getText();
  if (/^console\.\w+$/.test(node.expression.getText())) return node.arguments;
  if (logMethods.has(name)) return node.arguments.slice(0, 1);
  if (helpMethods.has(name) || otherFunctions.has(name) || /Error$/.test(name)) return node.arguments;
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
