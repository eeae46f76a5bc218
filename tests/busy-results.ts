/** What a run of vitest found. */
export interface TestCount {
  readonly passed: number;
  readonly skipped: number;
  /** File, name and first line of the message of each failed test. */
  readonly failures: readonly string[];
}

interface Results {
  readonly testResults: readonly {
    readonly name: string;
    readonly status: string;
    readonly message: string;
    readonly assertionResults: readonly {
      readonly fullName: string;
      readonly status: string;
      readonly failureMessages: readonly string[];
    }[];
  }[];
}

const firstLine = (text = '') => text.split('\n')[0] ?? '';

/** Reads the results that the JSON reporter wrote. A run that failed without a failed test counts as one failure. */
export function readResults(read: () => string, succeeded: boolean): TestCount {
  let results: Results;
  try {
    results = JSON.parse(read());
  } catch {
    return { passed: 0, skipped: 0, failures: ['vitest wrote no results'] };
  }
  const tests = results.testResults.flatMap(({ name, assertionResults }) =>
    assertionResults.map((test) => ({ ...test, name })),
  );
  const failures = [
    ...tests
      .filter(({ status }) => status === 'failed')
      .map(({ name, fullName, failureMessages: [message] }) => `${name}: ${fullName}: ${firstLine(message)}`),
    // A file that cannot be loaded, or whose hook failed.
    ...results.testResults
      .filter((file) => file.status === 'failed' && file.assertionResults.every(({ status }) => status !== 'failed'))
      .map(({ name, message }) => `${name}: ${firstLine(message)}`),
  ];
  if (!succeeded && failures.length === 0) failures.push('vitest failed without a failed test');
  const passed = tests.filter(({ status }) => status === 'passed').length;
  return { passed, skipped: tests.filter(({ status }) => status !== 'passed' && status !== 'failed').length, failures };
}
