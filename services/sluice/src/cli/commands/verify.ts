import { printVerification, textFormatFor, verifyService } from '@sluice/console/terminal';
import { exitStatus, localTime, print, systemClock } from '@sluice/platform/process';
import type { Command } from 'commander';
import { atOf } from './client-for.ts';
import { addOutput, addServiceOptions, askedService, type ServiceOptions } from './service-options.ts';

interface Options extends ServiceOptions {
  readonly at?: string;
  readonly output: 'text' | 'json';
}

export function addVerifyCommand(program: Command): void {
  const command = program
    .command('verify <[namespace/]service>')
    .summary('whether slices and Endpoints of a Service were as they should be: was it the controller?')
    .description(
      'Shows since when the slices and the Endpoints of a Service show its Pods as they should, or which Pods they do not. If\n' +
        'they do, check the proxies. Needs "sluice observe", "sluice open", or --recording-dir of "sluice run" or "sluice console".\n' +
        'Exits with status 1 if one is wrong or there is no answer, and 2 for invalid arguments.',
    )
    .option('--at <time>', 'e.g. 03:12, "5m ago" or 2026-03-01T03:12, with or without zone (default: now)');
  addOutput(addServiceOptions(command), 'text', 'json').action(verify);
}

async function verify(text: string, options: Options): Promise<void> {
  const at = atOf(options);
  const { client, name, title } = await askedService(text, options);
  const verification = await verifyService(client, name, at);
  if (verification.wrong.length > 0) process.exitCode = exitStatus.failure;
  if (options.output === 'json') return print(process.stdout, `${JSON.stringify(verification)}\n`);
  const now = systemClock.now();
  const heading = `${title}, ${at === undefined ? 'now' : `at ${localTime(at, now)}`}`;
  print(process.stdout, printVerification(heading, verification, textFormatFor(process.stdout, now)));
}
