import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Clock, Logger } from '@sluice/runtime';
import Fastify, { type FastifyInstance, type FastifyRequest } from 'fastify';
import type { z } from 'zod';
import type { History } from '../history/history.ts';
import type { ConsoleSources } from '../ports.ts';
import { Directory } from '../view/directory.ts';
import { eventRoutes } from './event-routes.ts';
import { EventStream } from './event-stream.ts';
import { type Access, guard, tokenCookie } from './guard.ts';
import { openApi } from './openapi.ts';
import { loadPage } from './page-files.ts';
import { Problem } from './problem.ts';
import { type Route, type RouteContext, routes } from './routes.ts';
import { Updates } from './updates.ts';

export interface ConsoleOptions {
  readonly history: History;
  readonly sources: ConsoleSources;
  readonly access: Access;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly version: string;
  /** Where a trace is shown; `{traceId}` stands for its id. */
  readonly jaeger?: string;
  readonly behind?: () => number;
}

export interface Console {
  /** Answers a request of whatever server it came to. */
  handle(request: IncomingMessage, response: ServerResponse): void;
  /** Ends all streams. */
  close(): Promise<void>;
}

const expiryMs = 60_000;

/** The read-only HTTP API, its description, the stream of updates, and the page. */
export async function createConsole(options: ConsoleOptions): Promise<Console> {
  const { history, sources, access, clock, logger, version, jaeger = null, behind = () => 0 } = options;
  const nameOf = (identity: string) =>
    sources.clusters().find((cluster) => cluster.identity === identity)?.name ?? identity;
  const directory = new Directory(history, nameOf, clock);
  const context: RouteContext = { history, directory, sources, now: () => clock.now(), clock, version, jaeger, behind };
  const app = Fastify({ routerOptions: { maxParamLength: 512 } });
  app.addHook('onRequest', async (request, reply) => {
    reply.headers(securityHeaders);
    guard(asked(request), access);
  });
  app.setErrorHandler((error, request, reply) => {
    const { status, message, hint } = toProblem(error);
    if (status >= 500) logger.error('console request failed', { url: request.url, error });
    void reply.code(status).send({ error: message, ...(hint !== undefined && { hint }) });
  });
  app.setNotFoundHandler(() => {
    throw new Problem(404, 'there is nothing here', '/api/v1/openapi.json says what there is');
  });
  for (const route of routes) addRoute(app, route, context);
  const description = openApi(routes, eventRoutes, version);
  app.get('/api/v1/openapi.json', () => description);
  const updates = new Updates(history, directory, clock);
  const streams = new Set<EventStream>();
  let closing = false;
  for (const { path, params, query, open } of eventRoutes) {
    app.get(path, (request, reply) => {
      const begin = open({ ...context, updates }, check(params, request.params), check(query, request.query));
      if (closing) throw new Problem(503, 'the console is closing', 'ask again where it runs on');
      reply.hijack();
      const stream = new EventStream(reply.raw, securityHeaders, clock);
      streams.add(stream);
      stream.onEnd(() => streams.delete(stream));
      begin(stream);
    });
  }
  const page = await loadPage();
  app.get('/*', (request, reply) => {
    const token = queryToken(request);
    if (token !== undefined) {
      const attributes = `Path=/; HttpOnly; SameSite=Strict${'encrypted' in request.raw.socket ? '; Secure' : ''}`;
      return reply.header('Set-Cookie', `${tokenCookie}=${encodeURIComponent(token)}; ${attributes}`).redirect('/');
    }
    const file = page(new URL(request.url, 'http://console').pathname);
    if (file === undefined) return reply.callNotFound();
    return reply.header('Content-Type', file.type).header('Cache-Control', 'no-cache').send(file.body);
  });
  let cancel = () => {};
  const expire = () => {
    history.expire();
    directory.forget();
    cancel = clock.schedule(expiryMs, expire);
  };
  cancel = clock.schedule(expiryMs, expire);
  await app.ready();
  return {
    handle: (request, response) => app.routing(request, response),
    async close() {
      closing = true;
      cancel();
      for (const stream of streams) stream.end();
      await app.close();
    },
  };
}

/** Nothing from elsewhere is loaded, run or framed. */
const securityHeaders = {
  'Content-Security-Policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Resource-Policy': 'same-origin',
};

function addRoute(app: FastifyInstance, { path, params, query, handle }: Route, context: RouteContext): void {
  app.get(path, async (request, reply) => {
    reply.header('Cache-Control', 'no-store');
    return await handle(context, check(params, request.params), check(query, request.query));
  });
}

function check(schema: z.ZodObject, given: unknown): Record<string, unknown> {
  const result = schema.safeParse(given);
  if (result.success) return result.data;
  const issue = result.error.issues[0];
  const name = issue?.path.join('.') || 'request';
  throw new Problem(400, `${name}: ${issue?.message ?? 'invalid'}`, '/api/v1/openapi.json says what may be asked');
}

function toProblem(error: unknown): Problem {
  if (error instanceof Problem) return error;
  const status = error instanceof Error && 'statusCode' in error ? Number(error.statusCode) : 500;
  if (status >= 400 && status < 500) return new Problem(status, error instanceof Error ? error.message : 'bad request');
  return new Problem(500, 'the console failed; its log says why');
}

function asked(request: FastifyRequest) {
  const { host, origin, authorization, cookie } = request.headers;
  return { method: request.method, host, origin, authorization, cookie, queryToken: queryToken(request) };
}

function queryToken(request: FastifyRequest): string | undefined {
  return new URL(request.url, 'http://console').searchParams.get('token') ?? undefined;
}
