import { afterEach, beforeEach, expect, test } from 'vitest';
import { print } from './print.ts';
import { RedrawnBlock } from './redrawn-block.ts';

const clear = '\r\u001b[J';
let written: string[];
let block: RedrawnBlock;
const output = (isTTY: boolean) => ({ isTTY, write: (text: string) => void written.push(text) });

beforeEach(() => {
  written = [];
  block = new RedrawnBlock(output(true));
});

afterEach(() => block.erase());

test('is redrawn in place', () => {
  block.draw(['one', 'two']);
  block.draw(['three']);
  expect(written).toEqual([`${clear}one\ntwo\n`, `\u001b[2A${clear}three\n`]);
});

test('stays below what is printed on the terminal meanwhile', () => {
  block.draw(['one', 'two']);
  written = [];
  print(output(true), 'printed\n');
  expect(written).toEqual([`\u001b[2A${clear}`, 'printed\n', `${clear}one\ntwo\n`]);
});

test('is not redrawn for what goes to a pipe', () => {
  block.draw(['one']);
  written = [];
  print(output(false), 'printed\n');
  expect(written).toEqual(['printed\n']);
});

test.each([
  ['erased', () => block.erase(), [`\u001b[1A${clear}`]],
  ['left', () => block.leave(), []],
])('once %s, it is not drawn again', (_, end, last) => {
  block.draw(['one']);
  written = [];
  end();
  print(output(true), 'printed\n');
  expect(written).toEqual([...last, 'printed\n']);
});

test('escapes what a terminal interprets, and keeps colours', () => {
  block.draw(['\u001b[31mred\u001b[39m \u001b[2J\u009b']);
  expect(written).toEqual([`${clear}\u001b[31mred\u001b[39m \\u001b[2J\\u009b\n`]);
});
