import { asRecord, asString } from '@sluice/platform';
import type { ListPage, RawObject } from './cluster.ts';
import { ListSplitter, MalformedListError } from './list-splitter.ts';

/**
 * Reads a list as its bytes arrive and passes on each item of this kind. Items may be malformed but have a name: an object that a list
 * lacks counts as deleted, so a list with an item that cannot be identified is rejected as a whole (ADR 0002).
 *
 * @throws MalformedListError
 */
export async function readList(
  chunks: AsyncIterable<Buffer>,
  kind: string,
  onItem: (object: RawObject) => void,
): Promise<Omit<ListPage, 'items'>> {
  let members: Readonly<Record<string, unknown>> = {};
  const splitter = new ListSplitter({
    onMember(text) {
      const member = parse(`{${text}}`);
      if (member === undefined) throw new MalformedListError('the response is not JSON');
      members = { ...members, ...asRecord(member) };
    },
    onItem(text) {
      const item = asRecord(parse(text));
      if (asString(asRecord(item.metadata).name) === '') throw new MalformedListError('an item has no name');
      onItem(item);
    },
  });
  for await (const chunk of chunks) splitter.push(chunk);
  splitter.end();
  const { kind: found = 'List' } = members;
  if (found !== 'List' && found !== `${kind}List`) throw new MalformedListError('it is a list of another kind');
  const metadata = asRecord(members.metadata);
  const resourceVersion = asString(metadata.resourceVersion);
  if (resourceVersion === '') throw new MalformedListError('the list has no resourceVersion');
  // A server may send `items: null` for an empty list.
  if (!splitter.hasItems && members.items !== null) throw new MalformedListError('the list has no array of items');
  return { resourceVersion, continueToken: asString(metadata.continue) };
}

/** Returns undefined if the text is not JSON. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
