import { asRecord, asString } from '@sluice/runtime';
import type { ListPage, RawObject, Resource } from './cluster.ts';
import { ListSplitter, MalformedListError } from './list-splitter.ts';
import { describe, type SkippedObject, whatIsWrong } from './watch-line.ts';

export interface ListReceiver {
  readonly onItem: (object: RawObject) => void;
  readonly onSkipped: (skipped: SkippedObject) => void;
}

/** Reads a list as its bytes come, and hands over one item after the other. Throws MalformedListError. */
export async function readList(
  resource: Resource,
  chunks: AsyncIterable<Buffer>,
  { onItem, onSkipped }: ListReceiver,
): Promise<Omit<ListPage, 'items'>> {
  let members: Readonly<Record<string, unknown>> = {};
  const splitter = new ListSplitter({
    onMember(text) {
      const member = parse(`{${text}}`);
      if (member === undefined) throw new MalformedListError('it is not JSON');
      members = { ...members, ...asRecord(member) };
    },
    onItem(text) {
      const item = parse(text);
      const why = item === undefined ? 'it is not JSON' : whatIsWrong(item);
      if (why === undefined) onItem(asRecord(item));
      else onSkipped(describe(resource, item, why));
    },
  });
  for await (const chunk of chunks) splitter.push(chunk);
  splitter.end();
  const metadata = asRecord(members.metadata);
  const resourceVersion = asString(metadata.resourceVersion);
  if (resourceVersion === '') throw new MalformedListError('it has no resourceVersion');
  // A server may say `items: null` for none.
  if (!splitter.hasItems && members.items !== null) throw new MalformedListError('it has no array of items');
  return { resourceVersion, continueToken: asString(metadata.continue) };
}

/** Undefined if it is not JSON. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
