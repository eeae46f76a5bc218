import type { CompletedEntry, EndpointChange, Entry, Observation } from '../src/view/entry-schemas.ts';
import type { PodView } from '../src/view/schemas.ts';

/** What the page and the terminal say of entries and Pods alike. */

/** Subjects of observations. */
export const subjects: Readonly<Record<Observation['of'], string>> = {
  service: 'Service',
  pod: 'Pod',
  slice: 'EndpointSlice',
  endpoints: 'Endpoints',
  topology: 'Nodes',
  cluster: 'The cluster',
};

export const signs = { added: '+', removed: '−', changed: '~' } as const;

/** Texts of observations that say that something is wrong. */
const problems =
  /^(became not ready|is not scheduled|has container )|deleted by another client|, which (was deleted|is (?!now known|as it should be))/;

export const isProblem = ({ text }: Pick<Observation, 'text'>): boolean => problems.test(text);

/** Whether an entry is about the Pod. */
export function concerns(entry: Entry, pod: string): boolean {
  switch (entry.kind) {
    case 'observed':
      return entry.observations.some(
        ({ of, name, write }) => (of === 'pod' && name === pod) || write?.endpoints.some((one) => one.pod === pod),
      );
    case 'decided':
      return entry.mutations.some(({ endpoints }) => endpoints.some((change) => change.pod === pod));
    case 'completed':
      return entry.endpoints.some((change) => change.pod === pod);
  }
}

/**
 * Whether a plan went back to the reconciler without a request, which is normal when a process starts or takes over, or a newer
 * plan arrives: the reconciler decides again.
 */
export const isReturned = ({ status, writes }: Pick<CompletedEntry, 'status' | 'writes'>): boolean =>
  writes.length === 0 && (status === 'conflict' || status === 'unavailable');

/** Whether an entry reports an error. */
export const isBad = (entry: Entry): boolean =>
  entry.kind === 'completed' && entry.status !== 'applied' && !isReturned(entry);

/** How an endpoint changed for a proxy. */
export function difference({ before, after }: EndpointChange): string {
  if (after === null) return before === null ? '' : `was ${wordsOf(before).join(', ')}`;
  if (before === null) return wordsOf(after).join(', ');
  const [old, now] = [wordsOf(before), wordsOf(after)];
  const changed = (words: readonly string[], others: readonly string[]) =>
    words.filter((word) => !others.includes(word)).join(', ') || '(none)';
  return `${changed(old, now)} → ${changed(now, old)}`;
}

function wordsOf({ ready, serving, terminating, zone, hints }: NonNullable<EndpointChange['after']>): string[] {
  return [
    ready ? 'ready' : 'not ready',
    ...(terminating ? ['terminating'] : []),
    ...(terminating && serving ? ['serving'] : []),
    ...(zone === '' ? [] : [`zone ${zone}`]),
    ...(hints.length === 0 ? [] : [`for ${hints.join(', ')}`]),
  ];
}

/** So many changes of readiness in a minute are no rollout. */
export const flapping = 3;

const verdicts: readonly PodView['verdict'][] = ['pending', 'excluded', 'not ready', 'terminating', 'unknown', 'ready'];

/** Pods that may need attention come first. */
export const troubledFirst = (pods: readonly PodView[]): readonly PodView[] =>
  pods.toSorted((a, b) => verdicts.indexOf(a.verdict) - verdicts.indexOf(b.verdict));
