import type { Mutation } from '@sluice/controllers';
import type { PlannedMutations } from '@sluice/messages';

/** Milliseconds for each address: an API server takes a tenth of that of a processor to store it. */
const msPerAddress = 0.25;
/** Fewer are no burden. */
const fewAddresses = 100;

/**
 * How long a Service's Endpoints are left alone after they were written, in milliseconds. Each write carries all
 * addresses, a thousand as easily as ten, while slices carry a hundred at most; under a stream of changes they would cost
 * more than all else together. The first change after a rest is written at once, and slices, which traffic follows, never
 * rest.
 */
export function restAfter({ controller, groups }: Pick<PlannedMutations, 'controller' | 'groups'>): number {
  if (controller !== 'endpoints') return 0;
  const written = groups.reduce((sum, { mutations }) => mutations.reduce((n, m) => n + addressesIn(m), sum), 0);
  return written < fewAddresses ? 0 : Math.round(written * msPerAddress);
}

function addressesIn(mutation: Mutation): number {
  if (mutation.verb === 'delete' || mutation.resource !== 'endpoints') return 0;
  return (mutation.object.subsets ?? []).reduce(
    (sum, { addresses, notReadyAddresses }) => sum + (addresses?.length ?? 0) + (notReadyAddresses?.length ?? 0),
    0,
  );
}
