import { inUrl } from './cluster-names.ts';
import type { ServiceRoute } from './router.ts';

/** The command of the CLI that prints what a view of a Service shows. `at`: the time shown. */
export function commandText(command: 'explain' | 'history', { service, range, pod }: ServiceRoute, at: number): string {
  const time = (ms: number) => new Date(ms).toISOString();
  const period = range === undefined ? {} : { since: time(range.since), until: time(range.until) };
  const flags = {
    cluster: inUrl(service.cluster),
    pod,
    ...(command === 'explain' ? { at: time(at) } : period),
  };
  const given = Object.entries(flags).flatMap(([name, value]) =>
    value === undefined ? [] : [`--${name}`, quoted(value)],
  );
  return ['sluice', command, quoted(`${service.namespace}/${service.name}`), ...given].join(' ');
}

/** For a POSIX shell. */
const quoted = (text: string): string => (/^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`);
