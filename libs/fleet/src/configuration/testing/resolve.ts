import { isUsageError } from '@sluice/platform/process';
import { type ResolvedConfiguration, resolveConfiguration } from '../load-configuration.ts';
import type { ConfigurationFlags, Environment } from '../process-layers.ts';

export interface Given {
  /** Content of `/etc/sluice.yaml`. */
  readonly file?: string;
  readonly environment?: Environment;
  readonly flags?: ConfigurationFlags;
  /** Other files, by path. */
  readonly files?: Readonly<Record<string, string>>;
}

/** Resolves a configuration with in-memory files. */
export function resolve(given: Given): ResolvedConfiguration & { readonly warnings: readonly string[] } {
  const { file, environment = {}, flags = {}, files = {} } = given;
  const warnings: string[] = [];
  const all: Readonly<Record<string, string>> = file === undefined ? files : { ...files, '/etc/sluice.yaml': file };
  const resolved = resolveConfiguration({
    file: file === undefined ? undefined : '/etc/sluice.yaml',
    environment,
    flags,
    warn: (text) => warnings.push(text),
    readText: (path) => {
      const text = all[path];
      if (text === undefined) throw Object.assign(new Error(`ENOENT: ${path}`), { code: 'ENOENT' });
      return text;
    },
  });
  return { ...resolved, warnings };
}

/** The message of the UsageError that resolving throws. */
export function errorOf(given: Given): string {
  try {
    resolve(given);
  } catch (error) {
    if (isUsageError(error)) return error.message;
    throw error;
  }
  throw new Error('the configuration is valid');
}

/** The entry of a path: its shown value and its origin. */
export function entry({ entries }: ResolvedConfiguration, path: string) {
  return entries.find((one) => one.path === path);
}
