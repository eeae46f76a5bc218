import type { z } from 'zod';
import { historyEntry } from '../view/entry-schemas.ts';
import { update } from '../view/schemas.ts';
import type { EventStream } from './event-stream.ts';
import { entryFilter, findJournal } from './find-journal.ts';
import { historyFilter, noParams, type RouteContext, serviceParams } from './route-context.ts';
import type { Scope } from './scope.ts';
import { streamHistory } from './stream-history.ts';
import type { UpdatePublisher } from './update-publisher.ts';

interface EventContext extends RouteContext {
  readonly updates: Pick<UpdatePublisher, 'subscribe'>;
}

/** A route of server-sent events. `open` throws Problem if there is nothing to stream, and returns what starts the stream. */
export interface EventRoute {
  readonly path: string;
  readonly scope: Scope;
  readonly summary: string;
  readonly params: z.ZodObject;
  readonly query: z.ZodObject;
  /** Schemas of the events' data, by event name. */
  readonly events: Readonly<Record<string, z.ZodType>>;
  readonly open: (
    context: EventContext,
    params: Record<string, unknown>,
    query: Record<string, unknown>,
  ) => (stream: EventStream) => void;
}

function route<P extends z.ZodObject, Q extends z.ZodObject>(
  given: Omit<EventRoute, 'params' | 'query' | 'open'> & {
    readonly params: P;
    readonly query: Q;
    readonly open: (context: EventContext, params: z.infer<P>, query: z.infer<Q>) => (stream: EventStream) => void;
  },
): EventRoute {
  return { ...given, open: given.open as EventRoute['open'] };
}

export const eventRoutes: readonly EventRoute[] = [
  route({
    path: '/api/v1/stream',
    scope: 'services',
    summary: 'changed Services and new writes, at most a few times per second',
    params: noParams,
    query: noParams,
    events: { update },
    open:
      ({ updates }) =>
      (stream) => {
        // A slow client misses updates instead of building up a backlog; it reloads what it shows.
        stream.onEnd(updates.subscribe((next) => stream.isFull || stream.send('update', next)));
      },
  }),
  route({
    path: '/api/v1/services/:cluster/:namespace/:service/history/stream',
    scope: 'service',
    summary: 'existing entries of the history of a Service, then new ones, one event each',
    params: serviceParams,
    query: historyFilter,
    events: { entry: historyEntry },
    open: (context, params, query) => {
      const journal = findJournal(context, params);
      return (stream) => streamHistory(stream, journal, context, entryFilter(query));
    },
  }),
];
