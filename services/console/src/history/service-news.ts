import type { Service } from '@sluice/controllers';

/** Describes what changed in a Service; empty if nothing that endpoints depend on. */
export function serviceNews(before: Service | null, after: Service | null): string[] {
  if (after === null) return before === null ? [] : ['was deleted'];
  if (before === null) return [`exists with ${selectorText(after)}`];
  if (before.uid !== after.uid) return [`was deleted and made again, with ${selectorText(after)}`];
  const news: string[] = [];
  const differs = (field: keyof Service) => JSON.stringify(before[field]) !== JSON.stringify(after[field]);
  if (!before.deleting && after.deleting) news.push('is being deleted');
  if (differs('selector')) news.push(`changed its selector: ${selectorText(after)}`);
  if (differs('ports')) news.push('changed its ports');
  if (differs('type')) news.push(`became of type ${after.type}`);
  if (differs('clusterIP') || differs('ipFamilies')) news.push('changed its IP families');
  if (differs('publishNotReadyAddresses'))
    news.push(after.publishNotReadyAddresses ? 'publishes Pods that are not ready' : 'publishes only ready Pods');
  if (differs('trafficDistribution')) news.push(`prefers ${after.trafficDistribution ?? 'no place'} for its traffic`);
  if (differs('labels')) news.push('changed its labels');
  if (differs('annotations')) news.push('changed its annotations for topology hints');
  return news;
}

export function selectorText({ selector }: Service): string {
  if (selector === null) return 'no selector: its endpoints are custom';
  const pairs = Object.entries(selector).map(([key, value]) => `${key}=${value}`);
  return pairs.length === 0 ? 'an empty selector: every Pod of the namespace' : `selector ${pairs.join(',')}`;
}
