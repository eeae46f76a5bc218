import { html } from '../html.ts';
import { Link } from '../router.ts';
import { noFilter } from '../service-filter.ts';
import type { BeltPeriod, Gap } from './belt.ts';

export interface AnswerProps extends BeltPeriod {
  /** When nothing was recorded. */
  readonly gaps: readonly Gap[];
  readonly showsCluster: boolean;
}

interface Props {
  readonly service: {
    readonly cluster: string;
    readonly clusterName: string;
    readonly namespace: string;
    readonly name: string;
  };
  /** Time that the link shows. */
  readonly at: number;
  readonly showsCluster: boolean;
}

/** A Service at a time, over all clusters, or all of a cluster. */
export function RecordedService({ service, at, showsCluster }: Props) {
  const { cluster, clusterName, namespace, name } = service;
  if (cluster === '*') {
    return html`<${Link} class="name" to=${{ view: 'logicalService', namespace, name }}
      ><small>all clusters · ${namespace}/</small>${name}<//
    >`;
  }
  if (name === '*') {
    const to = { view: 'services', filter: { ...noFilter, cluster } } as const;
    return html`<${Link} class="name" to=${to}><small>cluster </small>${clusterName}<//>`;
  }
  return html`<${Link} class="name" to=${{ view: 'service', service, at }}
    ><small>${showsCluster && `${clusterName} · `}${namespace}/</small>${name}<//
  >`;
}
