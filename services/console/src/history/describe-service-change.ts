import type { Service } from '@sluice/controllers';

/** Describes changes of a Service that affect endpoints; empty if there are none. Null: the Service does not exist. */
export function describeServiceChange(before: Service | null, after: Service | null): string[] {
  if (after === null) return before === null ? [] : ['was deleted'];
  if (before === null) return [`exists with ${selectorText(after)}`];
  if (before.uid !== after.uid) return [`was deleted and recreated with ${selectorText(after)}`];
  const texts: string[] = [];
  const differs = (field: keyof Service) => JSON.stringify(before[field]) !== JSON.stringify(after[field]);
  if (!before.deleting && after.deleting) texts.push('is being deleted');
  if (differs('selector')) texts.push(`changed its selector: ${selectorText(after)}`);
  if (differs('ports')) texts.push('changed its ports');
  if (differs('type')) texts.push(`changed its type to ${after.type}`);
  if (differs('clusterIP') || differs('ipFamilies')) texts.push('changed its IP families');
  if (differs('publishNotReadyAddresses'))
    texts.push(`${after.publishNotReadyAddresses ? 'publishes' : 'no longer publishes'} not-ready addresses`);
  if (differs('trafficDistribution'))
    texts.push(`changed its traffic distribution to ${after.trafficDistribution ?? '(none)'}`);
  if (differs('labels')) texts.push('changed its labels');
  if (differs('annotations')) texts.push('changed its annotations for topology hints');
  return texts;
}

export function selectorText({ selector }: Service): string {
  if (selector === null) return 'no selector (custom endpoints)';
  const pairs = Object.entries(selector).map(([key, value]) => `${key}=${value}`);
  return pairs.length === 0
    ? 'an empty selector, which matches every Pod of the namespace'
    : `selector ${pairs.join(',')}`;
}
