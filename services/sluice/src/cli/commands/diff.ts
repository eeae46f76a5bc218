import { diffService, printDiff, textFormatFor } from '@sluice/console/terminal';
import { localTime, print, systemClock, UsageError } from '@sluice/platform/process';
import type { Command } from 'commander';
import { atOf } from './client-for.ts';
import { addOutput, addServiceOptions, askedService, type ServiceOptions } from './service-options.ts';

interface Options extends ServiceOptions {
  readonly at: readonly string[];
  readonly output: 'text' | 'json';
}

export function addDiffCommand(program: Command): void {
  const command = program
    .command('diff <[namespace/]service>')
    .summary('what of a Service differs between two times')
    .description(
      'Compares a Service at two times: its selector, its Pods with the reasons of those that are not ready, its slices and\n' +
        'its Endpoints. With one --at, the other time is now.\n' +
        'Exits with status 1 if there is no answer, and 2 for invalid arguments.',
    )
    .option(
      '--at <time>',
      'e.g. 03:12, "5m ago" or 2026-03-01T03:12, with or without zone; given once or twice',
      (time: string, given: readonly string[]) => [...given, time],
      [],
    );
  addOutput(addServiceOptions(command), 'text', 'json').action(diff);
}

async function diff(text: string, options: Options): Promise<void> {
  if (options.at.length < 1 || options.at.length > 2) {
    throw new UsageError(`--at is given ${options.at.length} times; pass it once, to compare with now, or twice`);
  }
  // Without the second one, the other time is now.
  const [from, to] = options.at.flatMap((at) => atOf({ at }) ?? []).sort((a, b) => a - b);
  const { client, name, title } = await askedService(text, options);
  const [before, after] = await Promise.all([client.service(name, from), client.service(name, to)]);
  const differences = diffService(before, after);
  if (options.output === 'json') return print(process.stdout, `${JSON.stringify(differences)}\n`);
  const now = systemClock.now();
  const [start, end] = [from, to].map((at) => (at === undefined ? 'now' : localTime(at, now)));
  const heading = `${title}, ${start} → ${end}`;
  print(process.stdout, printDiff(heading, differences, textFormatFor(process.stdout, now)));
}
