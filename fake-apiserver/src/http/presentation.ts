import type { RawObject } from '@sluice/kubernetes';
import type { ResourceName } from '../server/resources.ts';
import { fromCoreEvent } from './events-form.ts';
import type { ResourceRoute } from './route.ts';
import { tableOf } from './table.ts';

/** Representation of the objects in a response. */
export interface Presentation {
  readonly object: (object: RawObject) => RawObject;
  readonly list: (list: RawObject, items: readonly RawObject[]) => RawObject;
}

/**
 * Whole objects, or the first representation in `Accept`: metadata only (`as=PartialObjectMetadata` or its list) or a
 * table (`as=Table`).
 */
export function presentationFor(route: ResourceRoute, accept: string, now: () => number): Presentation {
  const first = (accept.split(',')[0] ?? '').replaceAll(' ', '');
  if (/;as=PartialObjectMetadata(List)?(;|$)/.test(first)) return metadataOnly;
  if (first.includes(';as=Table;')) return table(route.info.name, now);
  if (route.form === 'own') return whole;
  return {
    object: fromCoreEvent,
    list: (list, items) => ({ ...list, apiVersion: 'events.k8s.io/v1', items: items.map(fromCoreEvent) }),
  };
}

const whole: Presentation = { object: (object) => object, list: (list, items) => ({ ...list, items }) };

const partial = { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1' };

const metadataOnly: Presentation = {
  object: ({ metadata }) => ({ ...partial, metadata }),
  list: (list, items) => ({
    ...list,
    kind: 'PartialObjectMetadataList',
    apiVersion: 'meta.k8s.io/v1',
    items: items.map(({ metadata }) => ({ ...partial, metadata })),
  }),
};

function table(resource: ResourceName, now: () => number): Presentation {
  return {
    object: (object) => tableOf(resource, [object], now()),
    list: ({ metadata }, items) => ({ ...tableOf(resource, items, now()), metadata }),
  };
}
