import { type FakeApiServer, timestamp } from '@sluice/fake-apiserver';
import type { RawObject } from '@sluice/kubernetes';
import { asRecord } from '@sluice/platform';

/** Creates or replaces a Node. It keeps its time of creation, which `put` would not set. */
export function putNode(server: FakeApiServer, node: RawObject, now: number): void {
  const metadata = asRecord(node.metadata);
  const old = server.list('nodes').items.find(({ metadata: { name } }) => name === metadata.name);
  const creationTimestamp = old?.metadata.creationTimestamp ?? timestamp(now);
  server.put('nodes', { ...node, metadata: { ...metadata, creationTimestamp } });
}
