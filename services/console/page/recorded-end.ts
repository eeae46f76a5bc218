import type { Overview } from '../src/view/schemas.ts';

/** When a recording without its clusters ends: its last state takes the place of the present. Undefined: there is a present. */
export function recordedEnd({ recording, clusters }: Pick<Overview, 'recording' | 'clusters'>): number | undefined {
  const isOpened = recording !== null && clusters.length > 0 && clusters.every(({ state }) => state === 'recorded');
  return isOpened ? recording.to : undefined;
}
