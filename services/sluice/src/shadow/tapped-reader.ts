import { objectAt, textAt } from '@sluice/comparison';
import {
  type Controller,
  endpointSliceController,
  endpointSliceMirroringController,
  managedByLabel,
  serviceNameLabel,
} from '@sluice/controllers';
import type { ClusterReader, RawObject, Resource, WatchEvent } from '@sluice/kubernetes';
import type { ServiceKey } from '@sluice/messages';

type OnWrite = (key: ServiceKey, controller: Controller) => void;

/** The reader, which also tells of each Endpoints and EndpointSlice that is seen to be written, as soon as it is read. */
export function tapped(reader: ClusterReader, cluster: string, onWrite: OnWrite): ClusterReader {
  return {
    identity: (signal) => reader.identity(signal),
    list: (resource, options, signal) => reader.list(resource, options, signal),
    watch(resource, resourceVersion, signal, options = {}) {
      const events = reader.watch(resource, resourceVersion, signal, options);
      if (resource !== 'endpoints' && resource !== 'endpointslices') return events;
      return tap(events, resource, options.sendInitialEvents === true);
    },
  };

  async function* tap(events: AsyncIterable<readonly WatchEvent[]>, resource: Resource, initial: boolean) {
    // What is there already when the watch begins is no news.
    let isNews = !initial;
    for await (const batch of events) {
      for (const event of batch) {
        if (event.type === 'BOOKMARK') isNews ||= event.initialEventsEnd === true;
        else if (isNews) tell(resource, event.object);
      }
      yield batch;
    }
  }

  function tell(resource: Resource, object: RawObject): void {
    const metadata = objectAt(object as never, 'metadata');
    const labels = objectAt(metadata, 'labels');
    const service = resource === 'endpoints' ? textAt(metadata, 'name') : textAt(labels, serviceNameLabel);
    const controller = resource === 'endpoints' ? 'endpoints' : writers[textAt(labels, managedByLabel)];
    if (service === '' || controller === undefined) return;
    onWrite({ cluster, namespace: textAt(metadata, 'namespace'), service }, controller);
  }
}

const writers: Readonly<Record<string, Controller>> = {
  [endpointSliceController]: 'endpointslice',
  [endpointSliceMirroringController]: 'endpointslicemirroring',
};
