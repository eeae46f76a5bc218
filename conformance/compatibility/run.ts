/** Checks Sluice with several releases of Kubernetes. See `--help`. */

import { readFileSync, writeFileSync } from 'node:fs';
import { ensureBinaries, VERSION_VARIABLE } from '@sluice/local';
import { UsageError } from '@sluice/platform/process';
import { flag, integer, runCommand, say, textOr } from '@sluice/program';
import { checkContracts, checkDifferential, checkVectors, type WorkloadOptions } from './checks.ts';
import { minorOf, releases } from './releases.ts';
import {
  hasPassed,
  type Part,
  page,
  parts,
  type ReleaseResult,
  readResults,
  resultsFile,
  withResult,
  withTable,
} from './results.ts';

interface Options extends WorkloadOptions {
  readonly release: string;
  readonly parts: string;
  readonly resume: boolean;
}

async function checkReleases({ release, parts: list, resume, ...workload }: Options): Promise<number> {
  let failed = false;
  const chosen = chosenParts(list);
  for (const kubernetes of chosenReleases(release)) {
    const result = await checkRelease(kubernetes, chosen, resume, workload);
    const passed = chosen.every((part) => hasPassed(result, part));
    say(`${kubernetes}: ${passed ? 'passed' : 'failed'}`);
    failed ||= !passed;
  }
  return failed ? 1 : 0;
}

function chosenReleases(list: string): readonly string[] {
  if (list === 'all') return releases;
  return list.split(',').map((wanted) => {
    const found = releases.find((release) => release === wanted || `1.${minorOf(release)}` === wanted);
    if (found === undefined)
      throw new UsageError(`--release: expected one or more of ${releases.join(', ')}, got "${wanted}"`);
    return found;
  });
}

function chosenParts(list: string): readonly Part[] {
  const unknown = list.split(',').find((wanted) => !parts.some((part) => part === wanted));
  if (unknown !== undefined) throw new UsageError(`--parts: expected ${parts.join(', ')}, got "${unknown}"`);
  return parts.filter((part) => list.split(',').includes(part));
}

/** Saves the result of each part at once, so that an interrupted run can be resumed. */
async function checkRelease(
  kubernetes: string,
  chosen: readonly Part[],
  resume: boolean,
  workload: WorkloadOptions,
): Promise<ReleaseResult> {
  process.env[VERSION_VARIABLE] = kubernetes;
  await ensureBinaries((line) => say(`${kubernetes}: ${line}`));
  const earlier = resume ? readResults().find((result) => result.kubernetes === kubernetes) : undefined;
  let result: ReleaseResult = { kubernetes, date: '', ...earlier };
  for (const part of chosen) {
    if (hasPassed(result, part)) {
      say(`${kubernetes}: ${part}: passed earlier`);
      continue;
    }
    say(`${kubernetes}: ${part}`);
    result = {
      ...result,
      date: new Date().toISOString().slice(0, 10),
      [part]: await check(part, kubernetes, workload),
    };
    save(result);
  }
  return result;
}

function check(part: Part, kubernetes: string, workload: WorkloadOptions) {
  if (part === 'contracts') return checkContracts(kubernetes);
  return part === 'vectors' ? checkVectors(kubernetes) : checkDifferential(kubernetes, workload);
}

function save(result: ReleaseResult): void {
  const results = withResult(readResults(), result);
  writeFileSync(resultsFile, `${JSON.stringify(results, undefined, 2)}\n`);
  writeFileSync(page, withTable(readFileSync(page, 'utf8'), results));
}

await runCommand({
  usage: 'node conformance/compatibility/run.ts      (or: npm run compatibility -- ...)',
  about: `Checks Sluice with kube-apiserver and kube-controller-manager of several Kubernetes releases: the contract tests, one
differential seed, and scenarios recorded with the controllers of the release. Builds the programs, which takes about a quarter
of an hour per release; needs Go and its module proxy. Writes conformance/compatibility/results.json and the table of
docs/reference/compatibility.md after each part. Exit status 1 if something failed.
`,
  options: {
    release: textOr('all', 'LIST', `of minor versions, such as 1.36, or all: ${releases.join(', ')}`),
    parts: textOr(parts.join(','), 'LIST', 'of what to run'),
    resume: flag('skip what passed according to the results file'),
    seed: integer(1, 'seed of the differential workload'),
    steps: integer(300, 'steps of the differential workload'),
    checkpoints: integer(15, 'checkpoints of the differential workload'),
  },
  main: checkReleases,
});
