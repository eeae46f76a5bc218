import type { Fact, Message } from '@sluice/messages';
import { type EndpointSlice, type Endpoints, structurallyEqual } from '@sluice/model';
import type { RetainedRecord } from './retained-record.ts';

/** The endpoints of a slice, or the subsets of Endpoints. */
type Content = NonNullable<EndpointSlice['endpoints'] | Endpoints['subsets']>;

/** Key of the Endpoints object; no slice has an empty name. */
const endpointsName = '';

/**
 * What the plans of a Service have written last, by object. The watch echo of a write has equal content, so the journal keeps
 * that content once, if it has both as objects: it neither decodes nor encodes what came from the bus.
 */
export class WrittenContent {
  readonly #last = new Map<string, Content>();

  /** Remembers what a plan writes. Returns a Change with the content of the plans where its own is equal. */
  share(record: RetainedRecord): RetainedRecord {
    const { content } = record;
    if (content instanceof Uint8Array) return record;
    if (content.kind === 'mutations') this.#remember(content);
    if (content.kind !== 'change' || this.#last.size === 0) return record;
    const facts = content.facts.map((fact) => this.#sharing(fact));
    return facts.every((fact, i) => fact === content.facts[i]) ? record : { ...record, content: { ...content, facts } };
  }

  /** The journal has dropped plans. */
  forget(): void {
    this.#last.clear();
  }

  #remember({ groups }: Extract<Message, { kind: 'mutations' }>): void {
    for (const mutation of groups.flatMap(({ mutations }) => mutations)) {
      if (mutation.verb === 'delete') continue;
      if (mutation.resource === 'endpoints') this.#last.set(endpointsName, mutation.object.subsets ?? []);
      else this.#last.set(mutation.object.metadata.name, mutation.object.endpoints ?? []);
    }
  }

  #sharing(fact: Fact): Fact {
    if (fact.kind === 'slice' && fact.slice !== null) {
      const endpoints = this.#equalTo(fact.name, fact.slice.endpoints);
      return endpoints === undefined ? fact : { ...fact, slice: { ...fact.slice, endpoints } };
    }
    if (fact.kind === 'endpoints' && fact.endpoints !== null) {
      const subsets = this.#equalTo(endpointsName, fact.endpoints.subsets);
      return subsets === undefined ? fact : { ...fact, endpoints: { ...fact.endpoints, subsets } };
    }
    return fact;
  }

  /** An empty list is equal to none, and not the same. A mutating webhook may have changed what was written. */
  #equalTo<T extends Content>(name: string, content: T | null | undefined): T | undefined {
    const written = this.#last.get(name);
    // Safe: a name stands for objects of one kind.
    return written?.length && content?.length && structurallyEqual(written, content) ? (written as T) : undefined;
  }
}
