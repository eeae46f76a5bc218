import { print, UsageError } from '@sluice/platform/process';
import { type Command, Option } from 'commander';

export interface ListOptions {
  readonly namespace?: string;
  readonly allNamespaces?: true;
}

/** The flags that select what a list contains, under the names of kubectl. */
export const addNamespaces = (command: Command): Command =>
  command
    .option('-n, --namespace <name>', 'only this namespace')
    .option('-A, --all-namespaces', 'all namespaces, which is the default');

/** @throws UsageError if both are given */
export function checkNamespaces({ namespace, allNamespaces }: ListOptions): void {
  if (namespace !== undefined && allNamespaces) {
    throw new UsageError('-n selects one namespace and -A all; remove one of them');
  }
}

/** `table` and what `formats` adds. */
export const addListOutput = (command: Command, ...formats: readonly string[]): Command =>
  command.addOption(
    new Option('-o, --output <format>', 'output format')
      .choices(['table', ...formats, 'json', 'yaml'])
      .default('table'),
  );

/** Prints a value as a document of YAML. */
export async function printYaml(value: unknown): Promise<void> {
  // Loaded on demand: few calls need it.
  const { dump } = await import('js-yaml');
  print(process.stdout, dump(value));
}
