import { html } from '../html.ts';
import { Link } from '../router.ts';
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

/** A Service at a time. */
export function RecordedService({ service, at, showsCluster }: Props) {
  const { clusterName, namespace, name } = service;
  return html`<${Link} class="name" to=${{ view: 'service', service, at }}
    ><small>${showsCluster && `${clusterName} · `}${namespace}/</small>${name}<//
  >`;
}
