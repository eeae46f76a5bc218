import { expect, it } from 'vitest';
import { reasonToIgnore } from './ignored-code.ts';

const name = (text: string) => ({ type: 'Identifier', name: text });
const call = (object: object, method: string) => ({
  node: {
    type: 'CallExpression',
    callee: { type: 'MemberExpression', object: object as never, property: name(method) },
  },
});
const member = (of: string, property: string) => ({
  type: 'MemberExpression',
  object: name(of),
  property: name(property),
});

it.each([
  ['a logger', call(name('logger'), 'warn')],
  [
    'the logger of a class',
    call({ ...member('this', ''), property: { type: 'PrivateName', id: name('logger') } }, 'info'),
  ],
  ['the logger of options', call(member('options', 'logger'), 'error')],
])('what is logged by %s is ignored', (_, path) => {
  expect(reasonToIgnore(path)).toBe('a log message');
});

it('the message of an error is ignored', () => {
  expect(reasonToIgnore({ node: { type: 'NewExpression', callee: name('UsageError') } })).toBe(
    'the message of an error',
  );
});

it.each([
  ['an error that is recorded', call(name('spans'), 'error')],
  ['another call', call(name('logger'), 'with')],
  ['another object', { node: { type: 'NewExpression', callee: name('Map') } }],
  ['a string', { node: { type: 'StringLiteral' } }],
])('%s is not ignored', (_, path) => {
  expect(reasonToIgnore(path)).toBeUndefined();
});

it('an empty fallback is ignored, other operands and fallbacks are not', () => {
  const empty = [
    { type: 'StringLiteral', value: '' },
    { type: 'ArrayExpression', elements: [] },
  ];
  const parent = (right: object, operator = '??') => ({ type: 'LogicalExpression', operator, right });
  for (const node of empty) {
    expect(reasonToIgnore({ node, parent: parent(node) })).toContain('mutants of `??` itself remain');
    expect(reasonToIgnore({ node, parent: parent({}) })).toBeUndefined();
    expect(reasonToIgnore({ node, parent: parent(node, '||') })).toBeUndefined();
  }
  const text = { type: 'StringLiteral', value: 'a' };
  expect(reasonToIgnore({ node: text, parent: parent(text) })).toBeUndefined();
});
