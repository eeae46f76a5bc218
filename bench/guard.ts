/**
 * Detects losses of speed. See `--help`. What it can detect, and what not:
 *
 * - The replay runs all services in this process on a fake cluster, and divides the CPU time of a change by that of a loop measured in
 *   turn. It varies by a tenth, on a busy machine too, so it detects 60 to 75 % more CPU per change in watching, deciding and
 *   writing, if the recorded value is of this speed: each run proves that by planting a loss. It contains no HTTP, TLS or JSON of
 *   API objects, no process start, and no bus or store over the network. What it allocates varies by a hundredth.
 * - The comparison contains the first three, and latency, memory and waits. It divides Sluice by kube-controller-manager within a
 *   round, so that load on the machine affects both. It varies more: expect it to detect what doubles a figure.
 * - A flip that Sluice never shows fails at once, whatever the load.
 *
 * Only figures that exceed their limit are measured again, at most twice. Losses below half of a figure, slow leaks, cold starts, large
 * shapes and fleets are for the benchmarks in docs/contributing/performance.md.
 */

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { flag, runCommand, say } from '@sluice/program';
import { compareWithPeer, comparisonNames } from './src/guard/comparison.ts';
import { attempts, type Figures, isWithin, limitOf, measureUntilWithin, mostOfRecorded } from './src/guard/limits.ts';
import { measureAllocations, measureReplays, replayNames } from './src/guard/replays.ts';

const file = join(import.meta.dirname, 'budget.json');
/** The planted loss as a share of the cost, more if the recorded value is of a slower program or machine. */
const leastPlanted = 0.6;
const plantedIn = '20x10';

interface Recorded {
  readonly replay: Figures;
  readonly allocation: Figures;
  readonly comparison: Figures;
}

interface Verdict {
  readonly passed: boolean;
  readonly text: string;
}

function verdictsOf(title: (name: string) => string, recorded: Figures, found: Figures): readonly Verdict[] {
  return Object.entries(found).map(([name, value]) => ({
    passed: isWithin(recorded, name, value),
    text: `${title(name)}: ${value.toFixed(2)}, limit ${limitOf(recorded, name).toFixed(2)}`,
  }));
}

async function replays(recorded: Figures): Promise<{ readonly found: Figures; readonly verdicts: readonly Verdict[] }> {
  const found = await measureUntilWithin(recorded, replayNames, (names) => measureReplays(names));
  const value = found[plantedIn] ?? Number.NaN;
  const limit = limitOf(recorded, plantedIn);
  const share = Math.max(leastPlanted, (1.2 * limit) / value - 1);
  let planted = Number.NaN;
  for (let attempt = 1; attempt <= attempts && !(planted > limit); attempt += 1)
    planted = (await measureReplays([plantedIn], share * value))[plantedIn] ?? Number.NaN;
  const verdicts = [
    ...verdictsOf((name) => `calibration units per change at ${name}`, recorded, found),
    {
      passed: planted > limit,
      text: `a planted loss of ${Math.round(share * 100)} % at ${plantedIn} exceeds the limit: ${planted.toFixed(2)}`,
    },
    {
      passed: value * mostOfRecorded > (recorded[plantedIn] ?? Number.NaN),
      text: `the recorded value, ${recorded[plantedIn]}, is recent enough to detect losses; if not, use --update`,
    },
  ];
  return { found, verdicts };
}

async function allocations(
  recorded: Figures,
): Promise<{ readonly found: Figures; readonly verdicts: readonly Verdict[] }> {
  const found = await measureAllocations();
  return { found, verdicts: verdictsOf((name) => `kB allocated per change at ${name}`, recorded, found) };
}

async function comparison(
  recorded: Figures,
): Promise<{ readonly found: Figures; readonly verdicts: readonly Verdict[] }> {
  let missing = 0;
  const found = await measureUntilWithin(recorded, comparisonNames, async () => {
    const compared = await compareWithPeer();
    missing += compared.missing;
    return compared.ratios;
  });
  const title = (name: string) => `${name}, divided by that of kube-controller-manager`;
  const shown = { passed: missing === 0, text: `flips that never became visible: ${missing}, limit 0` };
  return { found, verdicts: [...verdictsOf(title, recorded, found), shown] };
}

await runCommand({
  usage: 'node bench/guard.ts',
  about: `Detects losses of speed. Compares with ${mostOfRecorded} × the values in bench/budget.json:
the CPU time per change of a fixed replay, relative to a calibration loop, the bytes that it allocates, and the ratios of
Sluice to kube-controller-manager on a real API server. Proves that it can fail by planting a loss in the replay. A flip
that Sluice never shows fails in any case. Exit status 0 if everything is within its limits, 1 if not, 2 for a usage error.
`,
  options: {
    replay: flag('only the replay; takes some seconds and needs no servers'),
    compare: flag('only the comparison with kube-controller-manager; takes two minutes'),
    update: flag('record what is measured; on a quiet machine'),
  },
  async main({ replay, compare, update }) {
    const recorded: Recorded = JSON.parse(readFileSync(file, 'utf8'));
    const replayed = compare ? undefined : await replays(recorded.replay);
    const allocated = compare ? undefined : await allocations(recorded.allocation);
    const compared = replay ? undefined : await comparison(recorded.comparison);
    if (update) {
      const rounded = (figures: Figures) =>
        Object.fromEntries(Object.entries(figures).map(([name, value]) => [name, Number(value.toPrecision(3))]));
      const now = {
        replay: { ...recorded.replay, ...rounded(replayed?.found ?? {}) },
        allocation: { ...recorded.allocation, ...rounded(allocated?.found ?? {}) },
        comparison: { ...recorded.comparison, ...rounded(compared?.found ?? {}) },
      };
      writeFileSync(file, `${JSON.stringify(now, undefined, 2)}\n`);
      say(`recorded in ${file}`);
    }
    const verdicts = [replayed, allocated, compared].flatMap((measured) => measured?.verdicts ?? []);
    const failed = verdicts.filter(({ passed }) => !passed);
    for (const { passed, text } of verdicts) console.log(`${passed ? 'ok    ' : 'FAILED'} ${text}`);
    console.log(`${verdicts.length - failed.length} passed, ${failed.length} failed, 0 skipped`);
    return failed.length > 0 ? 1 : 0;
  },
});
