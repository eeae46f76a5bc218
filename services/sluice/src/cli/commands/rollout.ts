import { printRollout, textFormatFor } from '@sluice/console/terminal';
import { print, systemClock } from '@sluice/platform/process';
import type { Command } from 'commander';
import { sinceOf, untilOf } from './client-for.ts';
import { addOutput, addPeriod, addServiceOptions, askedService, type ServiceOptions } from './service-options.ts';

interface Options extends ServiceOptions {
  readonly since?: string;
  readonly until?: string;
  readonly output: 'text' | 'json';
}

export function addRolloutCommand(program: Command): void {
  const command = program
    .command('rollout <[namespace/]service>')
    .summary('how the Pods of a Service were over time, by ReplicaSet')
    .description(
      'Draws a belt for each Pod of a Service: when it was ready, not ready or terminating, below the controller that owns it.\n' +
        'Needs "sluice observe", "sluice open", or --recording-dir of "sluice run" or "sluice console".\n' +
        'Exits with status 1 if there is no answer, and 2 for invalid arguments.',
    );
  addOutput(addPeriod(addServiceOptions(command), 'the whole recording'), 'text', 'json').action(rollout);
}

async function rollout(text: string, options: Options): Promise<void> {
  const period = { since: sinceOf(options.since), until: untilOf(options.until) };
  const { client, name, title } = await askedService(text, options);
  const found = await client.rollout(name, period);
  if (options.output === 'json') return print(process.stdout, `${JSON.stringify(found)}\n`);
  print(process.stdout, printRollout(`Pods of ${title}`, found, textFormatFor(process.stdout, systemClock.now())));
}
