import type { RawObject, Resource } from '../cluster.ts';
import { TextTable } from '../protobuf/index.ts';
import { readList } from '../read-list.ts';
import { resourceInfo } from '../resources.ts';
import { eventsOfFrames, eventsOfLines } from '../watch-events.ts';

/** The decoders of what an API server sends, for fuzzing. Each passes on every object that it accepts. */

export type Decoder = (
  resource: Resource,
  chunks: AsyncIterable<Buffer>,
  onObject: (object: RawObject) => void,
) => Promise<void>;

export const decodeJsonWatch: Decoder = async (resource, chunks, onObject) => {
  for await (const batch of eventsOfLines(reading(resource), chunks)) {
    for (const event of batch) if (event.type !== 'BOOKMARK') onObject(event.object);
  }
};

export const decodeProtobufWatch: Decoder = async (resource, chunks, onObject) => {
  const events = eventsOfFrames(reading(resource), chunks, new TextTable(), () => {});
  for await (const batch of events) for (const event of batch) if (event.type !== 'BOOKMARK') onObject(event.object);
};

export const decodeList: Decoder = async (resource, chunks, onObject) => {
  await readList(chunks, resourceInfo[resource].kind, onObject);
};

function reading(resource: Resource) {
  return { resource, initialEvents: false, onSkipped: () => {}, now: () => 0 };
}
