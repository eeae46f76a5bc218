/**
 * Detects losses of speed. See `--help`. What it can detect, and what not:
 *
 * - The replay runs all services in one thread on a fake cluster and a virtual clock, and counts the source code that a change
 *   executes and the memory that it allocates. Neither depends on the load of the machine, so it detects a loss of a fifth in
 *   watching, deciding and writing: each run proves that by planting one. It contains no native code, so no JSON, HTTP or TLS.
 * - The comparison contains these, and latency, memory and waits. It divides Sluice by kube-controller-manager within a round, so
 *   that load on the machine affects both. It varies more: expect it to detect what doubles a figure.
 * - A flip that Sluice never shows fails at once, whatever the load.
 *
 * Only figures of the comparison that exceed their limit are measured again, at most twice. Smaller losses, slow leaks, cold starts,
 * large shapes and fleets are for the benchmarks in docs/contributing/performance.md.
 */

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { flag, runCommand, say } from '@sluice/program';
import { compareWithPeer, comparisonNames } from './src/guard/comparison.ts';
import {
  type Figures,
  isRepeated,
  isWithin,
  limitOf,
  measureUntilWithin,
  mostOfRecorded,
  mostOfRepeatable,
} from './src/guard/limits.ts';
import { measureReplays, type ReplayCost } from './src/guard/replays.ts';

const file = join(import.meta.dirname, 'budget.json');
/** Share of the changes of a replay that is made twice. */
const plantedLoss = 0.2;

interface Recorded extends ReplayCost {
  readonly comparison: Figures;
}

interface Verdict {
  readonly passed: boolean;
  readonly text: string;
}

const titles = {
  code: 'thousands of characters of code executed per change',
  allocation: 'kB allocated per change',
} as const;

async function replays(
  recorded: Recorded,
): Promise<{ readonly found: ReplayCost; readonly verdicts: readonly Verdict[] }> {
  say('replay');
  const found = await measureReplays();
  say(`replay with a planted loss of ${plantedLoss * 100} %`);
  const planted = await measureReplays(plantedLoss);
  const verdicts = (['code', 'allocation'] as const).flatMap((figure) =>
    Object.entries(found[figure]).flatMap(([shape, value]) => {
      const known = recorded[figure][shape] ?? Number.NaN;
      const withLoss = planted[figure][shape] ?? Number.NaN;
      const title = `${titles[figure]} at ${shape}`;
      const range = `${(known / mostOfRepeatable).toFixed(0)} to ${(known * mostOfRepeatable).toFixed(0)}`;
      return [
        { passed: isRepeated(recorded[figure], shape, value), text: `${title}: ${value.toFixed(0)}, within ${range}` },
        {
          passed: withLoss > value * mostOfRepeatable,
          text: `with a planted loss: ${withLoss.toFixed(0)}, more than a tenth above ${value.toFixed(0)}`,
        },
      ];
    }),
  );
  return { found, verdicts };
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
  const verdicts = Object.entries(found).map(([name, value]) => ({
    passed: isWithin(recorded, name, value),
    text: `${name}, divided by that of kube-controller-manager: ${value.toFixed(2)}, limit ${limitOf(recorded, name).toFixed(2)}`,
  }));
  const shown = { passed: missing === 0, text: `flips that never became visible: ${missing}, limit 0` };
  return { found, verdicts: [...verdicts, shown] };
}

await runCommand({
  usage: 'node bench/guard.ts',
  about: `Detects losses of speed. Fails if a fixed replay executes or allocates a tenth more or less per change than recorded in
bench/budget.json, or if a ratio of Sluice to kube-controller-manager on a real API server exceeds ${mostOfRecorded} × its recorded
value. Plants a loss in the replay to prove that it can fail. A flip that Sluice never shows fails in any case. Exit
status 0 if everything is within its limits, 1 if not, 2 for a usage error.
`,
  options: {
    replay: flag('only the replay; takes a minute or two and needs no servers'),
    compare: flag('only the comparison with kube-controller-manager; takes two minutes'),
    update: flag('record what is measured; the comparison on a quiet machine'),
  },
  async main({ replay, compare, update }) {
    const recorded: Recorded = JSON.parse(readFileSync(file, 'utf8'));
    const replayed = compare ? undefined : await replays(recorded);
    const compared = replay ? undefined : await comparison(recorded.comparison);
    if (update) {
      const rounded = (figures: Figures) =>
        Object.fromEntries(Object.entries(figures).map(([name, value]) => [name, Number(value.toPrecision(3))]));
      const now = {
        code: { ...recorded.code, ...rounded(replayed?.found.code ?? {}) },
        allocation: { ...recorded.allocation, ...rounded(replayed?.found.allocation ?? {}) },
        comparison: { ...recorded.comparison, ...rounded(compared?.found ?? {}) },
      };
      writeFileSync(file, `${JSON.stringify(now, undefined, 2)}\n`);
      say(`recorded in ${file}`);
    }
    const verdicts = [replayed, compared].flatMap((measured) => measured?.verdicts ?? []);
    const failed = verdicts.filter(({ passed }) => !passed);
    for (const { passed, text } of verdicts) console.log(`${passed ? 'ok    ' : 'FAILED'} ${text}`);
    console.log(`${verdicts.length - failed.length} passed, ${failed.length} failed, 0 skipped`);
    return failed.length > 0 ? 1 : 0;
  },
});
