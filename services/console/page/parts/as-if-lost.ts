import { api } from '../api.ts';
import { html } from '../html.ts';
import { useLoaded } from '../use-loaded.ts';

interface AsIfLostProps {
  /** UID or name of a cluster; empty: none. */
  readonly cluster: string;
  readonly choose: (cluster: string) => void;
}

/** Shows what would be if a cluster were lost. */
export function AsIfLost({ cluster, choose }: AsIfLostProps) {
  const [overview] = useLoaded(api.overview, []);
  const known = overview.state === 'ready' ? overview.value.clusters : [];
  if (known.length < 2 && cluster === '') return null;
  const name = known.find(({ identity }) => identity === cluster)?.name ?? cluster;
  const names = new Set([...known.map((one) => one.name).sort(), ...(name === '' ? [] : [name])]);
  return html`<select
    class=${name === '' ? '' : 'assumed'}
    aria-label="as if a cluster were lost"
    value=${name}
    onChange=${(event: Event) => choose((event.target as HTMLSelectElement).value)}
  >
    <option value="">as it is now</option>
    ${[...names].map((one) => html`<option key=${one} value=${one}>as if ${one} were lost</option>`)}
  </select>`;
}
