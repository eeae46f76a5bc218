import type { PlantedBug } from '@sluice/program/planted-bug';
import { type BrokenRule, fileOf, type Rule, rulesIn, type TestReference } from './rule.ts';
import { runAll, type TestReport, type TestResult } from './test-run.ts';

/** What is wrong with the evidence of a rule; nothing if `problems` is empty. */
export interface Verdict {
  readonly rule: Rule;
  readonly problems: readonly string[];
  /** How long its tests took with the rule broken. */
  readonly seconds: number;
}

/** Verifies that the tests of each rule pass, and that each fails when the rule is broken. */
export async function checkRules(
  rules: readonly Rule[],
  processes: number,
  onVerdict: (verdict: Verdict) => void,
): Promise<void> {
  const unbroken = await runUnbroken(rules, processes);
  const checks = new Map(rules.map((rule) => [rule, { rule, problems: [] as string[], seconds: 0, runs: 0 }]));
  const changes = rules.flatMap((rule) => rule.broken.map((broken) => ({ rule, broken })));
  const runs = changes.map(({ rule, broken }) => ({
    bug: bugOf(rule, broken),
    files: [...new Set(broken.tests.map(fileOf))],
    names: [...new Set(broken.tests.flatMap((test) => select(unbroken, rule, test)).map(({ name }) => name))],
    firstFailureOnly: broken.tests.length === 1,
  }));
  await runAll(runs, processes, (index, report) => {
    const { rule, broken } = changes[index] ?? absurd();
    const check = checks.get(rule) ?? absurd();
    check.problems.push(...problemsOf(rule, broken, unbroken, report));
    check.seconds += report.seconds;
    check.runs += 1;
    if (check.runs === rule.broken.length) onVerdict(check);
  });
}

/** The tests in `files` that fail when a rule is broken. */
export async function findTests(
  rules: readonly Rule[],
  files: readonly string[],
  processes: number,
  onFound: (rule: Rule, broken: BrokenRule, report: TestReport) => void,
): Promise<void> {
  const changes = rules.flatMap((rule) => rule.broken.map((broken) => ({ rule, broken })));
  const runs = changes.map(({ rule, broken }) => ({ bug: bugOf(rule, broken), files }));
  await runAll(runs, processes, (index, report) => {
    const { rule, broken } = changes[index] ?? absurd();
    onFound(rule, broken, report);
  });
}

const bugOf = ({ id }: Rule, { file, search, replace }: BrokenRule): PlantedBug => ({
  ...{ name: id, file, search, replace },
});

async function runUnbroken(rules: readonly Rule[], processes: number): Promise<ReadonlyMap<string, TestReport>> {
  const files = [...new Set(rules.flatMap(({ broken }) => broken.flatMap(({ tests }) => tests.map(fileOf))))];
  const reports = new Map<string, TestReport>();
  const runs = files.map((file) => ({ files: [file] }));
  await runAll(runs, processes, (index, report) => reports.set(files[index] ?? absurd(), report));
  return reports;
}

type Reports = ReadonlyMap<string, TestReport>;

function select(unbroken: Reports, rule: Rule, test: string | TestReference): readonly TestResult[] {
  const report = unbroken.get(fileOf(test));
  return report === undefined || 'error' in report
    ? []
    : report.results.filter((result) => isMeant(result, rule, test));
}

function isMeant(result: TestResult, { id }: Rule, test: string | TestReference): boolean {
  if (result.file !== fileOf(test)) return false;
  if (typeof test === 'string') return rulesIn(result.name).includes(id);
  return result.name.includes(test.title);
}

function problemsOf(rule: Rule, broken: BrokenRule, unbroken: Reports, report: TestReport): string[] {
  const change = `${broken.file}: ${JSON.stringify(broken.search)} → ${JSON.stringify(broken.replace)}`;
  if ('error' in report) return [`${change}: the tests cannot be loaded: ${report.error}`];
  return broken.tests.flatMap((test) => {
    const name = typeof test === 'string' ? test : `${test.file} > ${test.title}`;
    const before = unbroken.get(fileOf(test));
    if (before !== undefined && 'error' in before) return [`${name}: cannot be loaded: ${before.error}`];
    const selected = select(unbroken, rule, test);
    if (selected.length === 0) return [`${name}: no such test`];
    const failed = selected.filter(({ passed }) => !passed).map(({ name }) => name);
    if (failed.length > 0) return [`${name}: fails although nothing is broken: ${failed.join(', ')}`];
    const results = report.results.filter((result) => isMeant(result, rule, test));
    if (results.length === 0) return [`${change}: ${name} did not run`];
    const errors = results.flatMap((result) => result.errors);
    const nonsense = errors.find((error) => /^(ReferenceError|SyntaxError):/.test(error));
    if (nonsense !== undefined) return [`${change}: is no valid program: ${nonsense}`];
    return results.some(({ passed }) => !passed) ? [] : [`${change}: ${name} passes`];
  });
}

function absurd(): never {
  throw new Error('a report without a run');
}
