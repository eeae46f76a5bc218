import { useEffect } from 'preact/hooks';
import type { LogicalServiceDetail } from '../../src/view/schemas.ts';
import { api } from '../api.ts';
import { plural } from '../format.ts';
import { html } from '../html.ts';
import { useKeys } from '../keys.ts';
import { AsIfLost } from '../parts/as-if-lost.ts';
import { ClusterTable } from '../parts/cluster-table.ts';
import { Condition } from '../parts/condition.ts';
import { Failed, Loading } from '../parts/notice.ts';
import { ReadyBar } from '../parts/status.ts';
import { Link, type LogicalServiceRoute, navigate } from '../router.ts';
import { useLoaded } from '../use-loaded.ts';

const refreshMs = 5_000;

/** One Service over all clusters. */
export function LogicalServiceView({ route }: { route: LogicalServiceRoute }) {
  const { namespace, name, without } = route;
  const back = { view: 'logicalServices' } as const;
  useKeys({ Escape: () => navigate(back) });
  const [loaded] = useLoaded(
    (signal) => api.logicalService(namespace, name, { without }, signal),
    [namespace, name, without],
    refreshMs,
  );
  const detail = loaded.state === 'ready' ? loaded.value : undefined;
  const only = route.opensOnly && detail?.clusters.length === 1 ? detail.clusters[0]?.cluster : undefined;
  useEffect(() => {
    if (only !== undefined) navigate({ view: 'service', service: { cluster: only, namespace, name } }, true);
  }, [only]);
  const choose = (cluster: string) => navigate({ ...route, without: cluster || undefined }, true);
  return html`<div class="logical-service">
    <header class="service-head">
      <h1><small>${namespace} /</small> ${name}</h1>
      ${detail && html`<${ReadyBar} ...${detail.endpoints} endpoints=${detail.endpoints.all} />`}
      <${Link} class="trace" to=${back} title="Services over all clusters (Esc)">all Services<//>
      <span class="spacer"></span>
      <${AsIfLost} cluster=${without ?? ''} choose=${choose} />
    </header>
    ${loaded.state === 'loading' && html`<${Loading} what=${`${namespace}/${name}`} />`}
    ${loaded.state !== 'loading' && loaded.problem && html`<${Failed} problem=${loaded.problem} />`}
    ${detail && html`<${Sections} detail=${detail} route=${route} />`}
  </div>`;
}

function Sections({ detail, route }: { detail: LogicalServiceDetail; route: LogicalServiceRoute }) {
  const { conditions, clusters, missing, differences } = detail;
  return html`
    ${
      conditions.length > 0 &&
      html`<section>
        <h2>Conditions</h2>
        <ul class="conditions">${conditions.map((condition) => html`<li key=${condition.type}><${Condition} condition=${condition} /></li>`)}</ul>
      </section>`
    }
    <section>
      <h2>In ${plural(clusters.length, 'cluster')}</h2>
      <${ClusterTable} route=${route} detail=${detail} />
    </section>
    ${
      missing.length > 0 &&
      html`<section>
        <h2>Missing in ${plural(missing.length, 'cluster')}</h2>
        <p>${missing.join(', ')}</p>
      </section>`
    }
    ${
      differences.length > 0 &&
      html`<section>
        <h2>Differences</h2>
        <${Differences} differences=${differences} />
      </section>`
    }
  `;
}

function Differences({ differences }: { differences: LogicalServiceDetail['differences'] }) {
  return html`<div class="scroll"><table aria-label="differences">
    <thead><tr>${['field', 'value', 'clusters'].map((name) => html`<th scope="col">${name}</th>`)}</tr></thead>
    <tbody>
      ${differences.flatMap(({ field, values }) =>
        values.map(
          ({ value, clusters }, i) => html`<tr key=${`${field}/${value}`}>
            ${i === 0 && html`<th scope="rowgroup" rowspan=${values.length}>${field}</th>`}
            <td class="value">${value || 'none'}</td>
            <td>${clusters.join(', ')}</td>
          </tr>`,
        ),
      )}
    </tbody>
  </table></div>`;
}
