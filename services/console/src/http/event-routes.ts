import type { z } from 'zod';
import * as schemas from '../view/schemas.ts';
import type { EventStream } from './event-stream.ts';
import { followHistory } from './follow-history.ts';
import { none, ofService, pastOf } from './parameters.ts';
import { findJournal, type RouteContext, wantedEntries } from './routes.ts';
import type { Updates } from './updates.ts';

export interface EventContext extends RouteContext {
  readonly updates: Updates;
}

/** Of server-sent events. `open` throws Problem where there is nothing to tell of; what it returns then tells. */
export interface EventRoute {
  readonly path: string;
  readonly summary: string;
  readonly params: z.ZodObject;
  readonly query: z.ZodObject;
  /** The data of its events, by their name. */
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
    summary: 'Services that had news, and what was written, a few times a second at most',
    params: none,
    query: none,
    events: { update: schemas.update },
    open:
      ({ updates }) =>
      (stream) => {
        // A page that does not read gets the next update instead of a growing backlog; it asks anew for what it shows.
        stream.onEnd(updates.subscribe((update) => stream.isFull || stream.send('update', update)));
      },
  }),
  route({
    path: '/api/v1/services/:cluster/:namespace/:service/history/stream',
    summary: 'what was observed, decided and written for a Service, and then what happens, one event each',
    params: ofService,
    query: pastOf,
    events: { entry: schemas.historyEntry },
    open: (context, params, query) => {
      const journal = findJournal(context, params);
      return (stream) => followHistory(stream, journal, context.history, context.clock, wantedEntries(query));
    },
  }),
];
