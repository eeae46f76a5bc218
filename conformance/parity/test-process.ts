/** A process that runs unit tests on sources with a planted bug. Vitest stays loaded from one run to the next. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type PlantedBug, plant } from '@sluice/program/planted-bug';
import { createVitest, type TestModule } from 'vitest/node';
import type { TestReport, TestResult, TestRun } from './test-run.ts';

const root = join(import.meta.dirname, '../..');
let bug: PlantedBug | undefined;

const vitest = await createVitest(
  {
    root,
    config: false,
    watch: false,
    include: ['**/*.test.ts'],
    exclude: ['**/node_modules/**', '**/*.int.test.ts'],
    maxWorkers: 1,
    execArgv: ['--no-warnings'],
    // The cache on disk does not know of planted bugs.
    fsModuleCache: false,
    reporters: [{}],
  },
  {
    plugins: [
      {
        name: 'planted-bug',
        enforce: 'pre',
        load: (id) => {
          if (bug === undefined || id !== join(root, bug.file)) return undefined;
          return plant(bug, readFileSync(id, 'utf8'));
        },
      },
    ],
  },
);
await vitest.standalone();

async function run({ bug: planted, files, names, firstFailureOnly = false }: TestRun): Promise<TestReport> {
  const startedAt = performance.now();
  for (const one of [bug, planted]) if (one !== undefined) vitest.invalidateFile(join(root, one.file));
  bug = planted;
  const testNamePattern = names && new RegExp(`^(?:${names.map((name) => RegExp.escape(name)).join('|')})$`);
  const project = vitest.getRootProject();
  // A broken rule may let tests hang.
  const timeoutMs = planted === undefined ? 60_000 : 15_000;
  Object.assign(project.config, { testTimeout: timeoutMs, hookTimeout: timeoutMs, bail: firstFailureOnly ? 1 : 0 });
  const paths = files.map((file) => join(root, file));
  const specifications = paths.map((path) => project.createSpecification(path, testNamePattern && { testNamePattern }));
  // It knows the modules of earlier runs, too.
  const { testModules } = await vitest.runTestSpecifications(specifications);
  const modules = testModules.filter(({ moduleId }) => paths.includes(moduleId));
  const errors = modules.flatMap((module) => module.errors().map(({ message }) => message));
  const seconds = (performance.now() - startedAt) / 1000;
  return errors.length > 0 ? { seconds, error: errors.join('\n') } : { seconds, results: modules.flatMap(resultsOf) };
}

function resultsOf(module: TestModule): TestResult[] {
  const file = module.moduleId.slice(root.length + 1);
  const tests = [...module.children.allTests()].filter((test) => test.result().state !== 'skipped');
  return tests.map((test) => {
    const { state, errors = [] } = test.result();
    return {
      file,
      name: test.fullName,
      passed: state === 'passed',
      errors: errors.map(({ name, message }) => `${name}: ${message}`),
    };
  });
}

process.on('message', (request: TestRun) => {
  void run(request)
    .catch((error: unknown): TestReport => ({ seconds: 0, error: String(error) }))
    .then((report) => process.send?.(report));
});
process.on('disconnect', () => process.exit());
process.send?.('ready');
