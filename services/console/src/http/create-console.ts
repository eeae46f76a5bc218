import type { IncomingMessage, ServerResponse } from 'node:http';
import type { LostClusterPolicy } from '@sluice/logical-services';
import type { Clock, Logger } from '@sluice/platform';
import { printable } from '@sluice/platform/process';
import Fastify, { type FastifyInstance } from 'fastify';
import type { z } from 'zod';
import type { Reader } from '../access/reader.ts';
import type { History } from '../history/history.ts';
import type { ConsoleSources } from '../ports.ts';
import { ThreadBudget } from '../thread-budget.ts';
import { LogicalServiceIndex } from '../view/logical-service-index.ts';
import { ServiceIndex } from '../view/service-index.ts';
import { type DegradedPolicy, defaultDegradedPolicy } from '../view/service-status.ts';
import { type Access, authorize, queryToken, sessionCookie, targetOf } from './authorize.ts';
import { eventRoutes } from './event-routes.ts';
import { EventStream } from './event-stream.ts';
import { openApi } from './openapi.ts';
import { loadPage } from './page-files.ts';
import { Problem } from './problem.ts';
import { Readers } from './readers.ts';
import { RequestLimit } from './request-limit.ts';
import { restrictUpdates } from './restrict.ts';
import type { Route } from './route.ts';
import { routes } from './routes.ts';
import type { FullContext } from './scope.ts';
import { Sessions } from './sessions.ts';
import { UpdatePublisher } from './update-publisher.ts';

export interface ConsoleOptions {
  readonly history: History;
  readonly sources: ConsoleSources;
  readonly access: Access;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly version: string;
  /** Share of the thread that requests and streams may use, up to 1. Default 1, for a process that does nothing else. */
  readonly threadShare?: number;
  /** URL of a trace in the Jaeger UI; `{traceId}` is replaced. */
  readonly jaeger?: string;
  /** Number of logs whose older records are still being read. Default: none. */
  readonly behind?: () => number;
  /** How long the last known endpoints of a lost cluster count. Default: until it answers again. */
  readonly lostClusters?: LostClusterPolicy;
  /** When a Service that is not completely ready counts as degraded. */
  readonly degraded?: DegradedPolicy;
}

export interface Console {
  handle(request: IncomingMessage, response: ServerResponse): void;
  /** Ends all streams and stops timers. */
  close(): Promise<void>;
}

/** Creates the read-only HTTP API and the page. */
export async function createConsole(options: ConsoleOptions): Promise<Console> {
  const {
    history,
    sources,
    access,
    clock,
    logger,
    version,
    jaeger = null,
    behind = () => 0,
    threadShare = 1,
    lostClusters = { action: 'keep', maxAgeMs: 0 },
    degraded = defaultDegradedPolicy,
  } = options;
  const nameOf = (identity: string) =>
    sources.clusters().find((cluster) => cluster.identity === identity)?.name ?? identity;
  const budget = new ThreadBudget(clock, threadShare);
  const limit = new RequestLimit(clock);
  const index = new ServiceIndex({ history, nameOf, budget, now: () => clock.now(), degraded });
  const context: FullContext = {
    history,
    index,
    logicalServices: new LogicalServiceIndex(budget),
    lostClusters,
    degraded,
    sources,
    now: () => clock.now(),
    clock,
    budget,
    version,
    jaeger,
    behind,
  };
  const sessions = new Sessions(clock);
  const readers = new Readers(context, access.reviewer);
  /** The token of each request, if one is required. */
  const tokens = new WeakMap<IncomingMessage, string>();
  const app = Fastify({ routerOptions: { maxParamLength: 512 } });
  app.setReplySerializer((payload) => printable(JSON.stringify(payload)));
  // Not asynchronous unless readers are recognized, so that the budget counts it, and all of a request that needs nothing else.
  app.addHook('onRequest', (request, reply, done) => {
    reply.headers(securityHeaders);
    const token = authorize(request.raw, access, sessions);
    if (token !== undefined) tokens.set(request.raw, token);
    const recognized = readers.recognize(request.raw, token);
    if (recognized === undefined) done();
    else recognized.then(() => done(), done);
  });
  app.setErrorHandler((error, request, reply) => {
    const { status, message, hint, retryAfter } = toProblem(error);
    // Without the query, which may contain the token.
    const [path = ''] = request.url.split('?');
    if (status >= 500 && status !== 503) logger.error('console request failed', { path, error });
    if (retryAfter !== undefined) reply.header('Retry-After', retryAfter);
    void reply.code(status).send({ error: message, ...(hint !== undefined && { hint }) });
  });
  app.setNotFoundHandler(() => {
    throw new Problem(404, 'not found', 'see /api/v1/openapi.json');
  });
  for (const route of routes) addRoute(app, route, { budget, limit, readers });
  const description = JSON.stringify(openApi(routes, eventRoutes, version));
  app.get('/api/v1/openapi.json', (_, reply) => reply.type('application/json; charset=utf-8').send(description));
  const updates = new UpdatePublisher(history, index, clock, budget);
  const streams = new Set<EventStream>();
  /** Streams whose data is being found. */
  let opening = 0;
  let isClosing = false;
  for (const route of eventRoutes) {
    const { path, params, query, open } = route;
    app.get(path, async (request, reply) => {
      const [given, filter] = [validate(params, request.params), validate(query, request.query)];
      if (streams.size + opening >= maxStreams) throw tooManyStreams();
      opening++;
      const prepare = async () => {
        const asked = { ...given, ...filter };
        const { context, reader } = await readers.contextFor(request.raw, route, asked);
        const visible = reader === undefined ? updates : restrictUpdates(updates, reader);
        return { start: open({ ...context, updates: visible }, given, filter), asked };
      };
      const { start, asked } = await budget.run(prepare).finally(() => opening--);
      if (isClosing) throw new Problem(503, 'the console is closing');
      reply.hijack();
      const stream = new EventStream(reply.raw, securityHeaders, clock);
      streams.add(stream);
      stream.onEnd(() => streams.delete(stream));
      readers.keepChecking(stream, request.raw, route, asked);
      start(stream);
    });
  }
  const newSession = (token: string, isEncrypted: boolean) => {
    const attributes = `Path=/; HttpOnly; SameSite=Strict${isEncrypted ? '; Secure' : ''}`;
    return `${sessionCookie(isEncrypted)}=${sessions.create(token)}; ${attributes}`;
  };
  const page = await loadPage();
  app.get('/*', (request, reply) => {
    const url = targetOf(request.raw);
    if (queryToken(url) !== undefined) {
      const token = tokens.get(request.raw);
      if (token !== undefined) reply.header('Set-Cookie', newSession(token, 'encrypted' in request.raw.socket));
      return reply.redirect('/');
    }
    const file = page(url.pathname);
    if (file === undefined) return reply.callNotFound();
    return reply.header('Content-Type', file.type).header('Cache-Control', 'no-cache').send(file.body);
  });
  const stopExpiry = history.expirePeriodically(() => index.prune());
  await app.ready();
  return {
    handle: (request, response) => void budget.run(() => app.routing(request, response)),
    async close() {
      isClosing = true;
      stopExpiry();
      for (const stream of streams) stream.end();
      await app.close();
    },
  };
}

/** Maximum number of streams open at a time: each costs memory and is sent every new record. */
const maxStreams = 64;

/** The page may only load its own files, and no other page may embed it. */
const securityHeaders = {
  'Content-Security-Policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Resource-Policy': 'same-origin',
};

const tooManyStreams = () =>
  new Problem(503, `more than ${maxStreams} open streams`, 'close other pages and commands that follow', 1);

interface Serving {
  readonly budget: ThreadBudget;
  readonly limit: RequestLimit;
  readonly readers: Readers;
}

function addRoute(app: FastifyInstance, route: Route, { budget, limit, readers }: Serving): void {
  const { path, params, query, handle } = route;
  app.get(path, async (request, reply) => {
    const [given, filter] = [validate(params, request.params), validate(query, request.query)];
    reply.header('Cache-Control', 'no-store').type('application/json; charset=utf-8');
    return await limit.respond(reply.raw, async () => {
      const { context, reader } = await readers.contextFor(request.raw, route, { ...given, ...filter });
      const result = await budget.run(() => handle(context, given, filter));
      if (reader !== undefined && reader.unanswered > 0) reply.header('Warning', `299 - "${incomplete(reader)}"`);
      return budget.run(() => printable(JSON.stringify(result)));
    });
  });
}

/** As kubectl gets warnings of an API server. */
const incomplete = ({ unanswered }: Reader): string =>
  `without ${unanswered === 1 ? 'a cluster whose API server does' : `${unanswered} clusters whose API servers do`} not answer, so that it is unknown what you may see there`;

function validate(schema: z.ZodObject, given: unknown): Record<string, unknown> {
  const result = schema.safeParse(given);
  if (result.success) return result.data;
  const issue = result.error.issues[0];
  const name = issue?.path.join('.') || 'request';
  throw new Problem(400, `${name}: ${issue?.message ?? 'invalid'}`, 'see /api/v1/openapi.json');
}

function toProblem(error: unknown): Problem {
  if (error instanceof Problem) return error;
  const status = error instanceof Error && 'statusCode' in error ? Number(error.statusCode) : 500;
  if (status >= 400 && status < 500) return new Problem(status, error instanceof Error ? error.message : 'bad request');
  return new Problem(500, 'internal error; see the log of the console');
}
