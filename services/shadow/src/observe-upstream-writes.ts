import { controllerManaging, endpointsWriter } from '@sluice/controllers';
import { type Middleware, mapWatch, type RawObject, type Resource, type WatchStream } from '@sluice/kubernetes';
import type { ServiceKey } from '@sluice/messages';
import { type Controller, managedByLabel, serviceNameLabel } from '@sluice/model';
import { objectAt, textAt } from './comparison/json.ts';

type OnWrite = (key: ServiceKey, controller: Controller) => void;

/** Reports each write to Endpoints and EndpointSlices that the upstream controllers make, as soon as a watch shows it. */
export function observeUpstreamWrites(cluster: string, onWrite: OnWrite): Middleware {
  return async (request, next) => {
    const response = await next(request);
    if (request.verb !== 'watch' || !isWritten(request.resource)) return response;
    const { resource, options } = request;
    return mapWatch(request, response, (stream) => observe(stream, resource, options.sendInitialEvents === true));
  };

  async function* observe(stream: WatchStream, resource: Resource, hasInitialEvents: boolean): WatchStream {
    // Initial events are the state before the watch, not writes.
    let isWrite = !hasInitialEvents;
    for await (const batch of stream) {
      for (const event of batch) {
        if (event.type === 'BOOKMARK') isWrite ||= event.initialEventsEnd === true;
        else if (isWrite) report(resource, event.object);
      }
      yield batch;
    }
  }

  function report(resource: Resource, object: RawObject): void {
    const metadata = objectAt(object as never, 'metadata');
    const labels = objectAt(metadata, 'labels');
    const service = resource === 'endpoints' ? textAt(metadata, 'name') : textAt(labels, serviceNameLabel);
    const controller = resource === 'endpoints' ? endpointsWriter : controllerManaging(textAt(labels, managedByLabel));
    if (service === '' || controller === undefined) return;
    onWrite({ cluster, namespace: textAt(metadata, 'namespace'), service }, controller);
  }
}

const isWritten = (resource: Resource): boolean => resource === 'endpoints' || resource === 'endpointslices';
