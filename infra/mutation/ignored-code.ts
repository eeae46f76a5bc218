import { declareValuePlugin, PluginKind } from '@stryker-mutator/api/plugin';

interface Node {
  readonly type: string;
  readonly name?: string;
  /** The identifier of a private name. */
  readonly id?: Node;
  readonly callee?: Node;
  readonly object?: Node;
  readonly property?: Node;
}

interface Path {
  readonly node: Node & {
    readonly value?: unknown;
    readonly elements?: readonly unknown[];
    readonly right?: unknown;
    readonly operator?: string;
  };
  readonly parent?: { readonly type: string; readonly right?: unknown; readonly operator?: string } | null;
}

const levels = new Set(['debug', 'info', 'warn', 'error']);

/** Code whose mutants say nothing about tests: lines for people, whose words tests should not repeat, and unused fallbacks. */
export function reasonToIgnore({ node, parent }: Path): string | undefined {
  if (node.type === 'CallExpression' && isLogCall(node.callee)) return 'a log message';
  if (node.type === 'NewExpression' && node.callee?.name?.endsWith('Error')) return 'the message of an error';
  if (parent?.type === 'LogicalExpression' && parent.operator === '??' && parent.right === node && isEmpty(node))
    return 'what `??` gives where the type checker does not know that a value exists; mutants of `??` itself remain';
  return undefined;
}

function isEmpty({ type, value, elements }: Path['node']): boolean {
  return (type === 'StringLiteral' && value === '') || (type === 'ArrayExpression' && elements?.length === 0);
}

function isLogCall(callee: Node | undefined): boolean {
  if (callee?.property?.name === undefined || !levels.has(callee.property.name)) return false;
  const target = nameOf(callee.object?.property) ?? nameOf(callee.object);
  return target !== undefined && /logger$/i.test(target);
}

const nameOf = (node: Node | undefined): string | undefined => node?.name ?? node?.id?.name;

/** Stryker looks for this name. */
export const strykerPlugins = [
  declareValuePlugin(PluginKind.Ignore, 'words-for-people', { shouldIgnore: (path) => reasonToIgnore(path as Path) }),
];
