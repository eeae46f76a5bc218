import type { ServiceList } from '@sluice/console';
import { incident } from './planted-incident.ts';

export interface Picture {
  /** Of the file in docs/images, without its end. */
  readonly name: string;
  readonly path: string;
  /** A selector of what the page shows last. */
  readonly shows: string;
}

/** Pictures of the docs: the planted incident, as its page shows it. */
export async function picturesOf(url: string): Promise<readonly Picture[]> {
  const { service, at } = incident.rollout;
  const [since, until] = [at - 300_000, at + 1_500_000];
  const path = `${await pathOf(url, incident.rollout)}?at=${at + 600_000}&since=${since}&until=${until}`;
  return [
    { name: 'console-problems', path: '/recording/problems?period=6h', shows: '.heat a' },
    { name: 'console-outages', path: '/recording/outages?period=6h', shows: '.belts li' },
    { name: 'console-services', path: '/', shows: '.feed li' },
    { name: 'console-clusters', path: '/logical-services?without=prod-us-2', shows: '.matrix .entry' },
    { name: 'console-timeline', path, shows: `.pod-belts li:has-text("${service.split('/')[1]}") .pod` },
  ];
}

async function pathOf(url: string, { cluster, service }: typeof incident.rollout): Promise<string> {
  const { items } = (await (await fetch(`${url}/api/v1/services?q=${service}`)).json()) as ServiceList;
  const found = items.find(({ clusterName }) => clusterName === cluster);
  if (found === undefined) throw new Error(`the recording has no Service ${service} in ${cluster}`);
  return `/services/${[found.clusterName, found.namespace, found.name].map(encodeURIComponent).join('/')}`;
}
