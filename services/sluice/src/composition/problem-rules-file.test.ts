import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { configuredProblemRules } from './problem-rules-file.ts';

let directory: string;
let file: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'sluice-problem-rules-'));
  file = join(directory, 'problems.yaml');
});

afterEach(() => rmSync(directory, { recursive: true }));

function rulesOf(text: string) {
  writeFileSync(file, text);
  return configuredProblemRules({ problemsConfig: file });
}

test('without a file, there are no rules', () => {
  expect(configuredProblemRules({ problemsConfig: undefined })).toEqual([]);
  expect(configuredProblemRules(undefined)).toEqual([]);
});

test('a rule has a reason, and what it changes', () => {
  const text = `
problems:
  - reason: NoReadyEndpoints
    namespaces: [dev, "preview-*"]
    severity: off
  - { reason: LateChange, for: 1m30s }
`;
  expect(rulesOf(text)).toEqual([
    { reason: 'NoReadyEndpoints', namespaces: ['dev', 'preview-*'], severity: 'off' },
    { reason: 'LateChange', afterMs: 90_000 },
  ]);
  expect(rulesOf('problems: []')).toEqual([]);
});

test.each([
  ['rules: []', 'rules is not known; the only key is problems\n  problems is no list of rules'],
  ['problems: {}', 'problems is no list of rules'],
  ['problems: [LateChange]', 'problems[0] is no map of reason, namespaces, severity, for'],
  ['problems: [{ severity: info }]', 'problems[0].reason is missing; expected NoReadyEndpoints, NotStarted, '],
  ['problems: [{ reason: Late }]', 'problems[0].reason is "Late"; expected NoReadyEndpoints, '],
  [
    'problems: [{ reason: LateChange, severity: page }]',
    'problems[0].severity is "page"; expected critical, warning, info, off',
  ],
  ['problems: [{ reason: LateChange, for: 30 }]', 'problems[0].for is 30; expected a duration of at most 168h'],
  ['problems: [{ reason: LateChange, for: 200h }]', 'problems[0].for is "200h"; expected a duration'],
  ['problems: [{ reason: LateChange, namespaces: shop }]', 'problems[0].namespaces is "shop"; expected a list'],
  ['problems: [{ reason: LateChange, namespaces: ["*-x"] }]', 'problems[0].namespaces is ["*-x"]; expected a list'],
  [
    'problems: [{ reason: LateChange, hold: 1m }]',
    'problems[0].hold is not known; known are reason, namespaces, severity, for',
  ],
])('%s is an error that says what is expected', (text, message) => {
  expect(() => rulesOf(text)).toThrow(`${file} is invalid:\n  ${message}`);
});

test('a file that cannot be read is named in one line', () => {
  const start = 'recording.problemsConfig (--problems-config): cannot read ';
  expect(() => rulesOf('problems: [')).toThrow(new RegExp(`^${RegExp.escape(start + file)}: [^\\n]+$`));
  expect(() => configuredProblemRules({ problemsConfig: join(directory, 'none') })).toThrow(/none: ENOENT/);
});
