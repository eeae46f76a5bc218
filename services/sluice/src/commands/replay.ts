import { createInterface } from 'node:readline';
import type { Command } from 'commander';
import { replayScenario } from '../replay/replay-scenario.ts';
import { parseScenario } from '../replay/scenario.ts';
import { UsageError } from '../terminal/usage-error.ts';

export function addReplayCommand(program: Command): void {
  program
    .command('replay')
    .summary('play recorded scenarios through the pipeline')
    .description(
      'Reads scenarios from standard input, one JSON object a line (see conformance/README.md), plays each through the\n' +
        'whole pipeline on a simulated API server with a virtual clock, and prints one result a line.',
    )
    .option('--as-shipped', 'do not reproduce what is known to differ from upstream (docs/reference/deviations.md)')
    .action(replay);
}

async function replay(options: { asShipped?: true }): Promise<void> {
  let number = 0;
  for await (const line of createInterface({ input: process.stdin })) {
    number++;
    if (line.trim() === '') continue;
    const result = await replayScenario(parse(line, number), options);
    if (!process.stdout.write(`${JSON.stringify(result)}\n`))
      await new Promise((resolve) => process.stdout.once('drain', resolve));
  }
}

function parse(line: string, number: number) {
  try {
    return parseScenario(line);
  } catch (error) {
    throw new UsageError(
      `standard input, line ${number}: not a scenario: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}
