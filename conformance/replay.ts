/** Replays recorded scenarios through the whole pipeline. See `--help`. */

import { createInterface } from 'node:readline';
import { errorMessage } from '@sluice/platform';
import { UsageError } from '@sluice/platform/process';
import { parseCommandLine, runProgram } from '@sluice/program';
import { replayScenario } from './replay/replay-scenario.ts';
import { parseScenario } from './replay/scenario.ts';
import { deviations } from './replay/upstream/policy.ts';

const HELP = `usage: node conformance/replay.ts [--as-shipped] < scenarios.jsonl > results.jsonl

Reads scenarios from standard input, one JSON object per line (see conformance/README.md). Replays each through the whole
pipeline on a fake API server with a virtual clock, and prints one result per line.

  --as-shipped  reproduce no deviation from upstream (docs/reference/parity.md), and let only time pass in a resync
`;

async function main(): Promise<number> {
  const line = parseCommandLine({ options: { 'as-shipped': false } as const }, process.argv.slice(2));
  if (line === 'help') {
    process.stdout.write(HELP);
    return 0;
  }
  const reproduced = new Set(line.options['as-shipped'] ? [] : deviations);
  let number = 0;
  for await (const text of createInterface({ input: process.stdin })) {
    number++;
    if (text.trim() === '') continue;
    const result = await replayScenario(parse(text, number), reproduced);
    if (!process.stdout.write(`${JSON.stringify(result)}\n`))
      await new Promise((resolve) => process.stdout.once('drain', resolve));
  }
  return 0;
}

function parse(text: string, number: number) {
  try {
    return parseScenario(text);
  } catch (error) {
    throw new UsageError(`standard input, line ${number}: not a scenario: ${errorMessage(error)}`);
  }
}

await runProgram(main);
