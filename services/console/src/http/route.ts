import { z } from 'zod';
import { noParams, type RouteContext } from './route-context.ts';
import type { Scope } from './scope.ts';

export interface Route {
  readonly path: string;
  /** What a reader must be allowed to see, besides what the context leaves out. */
  readonly scope: Scope;
  readonly summary: string;
  readonly params: z.ZodObject;
  readonly query: z.ZodObject;
  readonly response: z.ZodType;
  readonly handle: (
    context: RouteContext,
    params: Record<string, unknown>,
    query: Record<string, unknown>,
  ) => unknown | Promise<unknown>;
}

export const limit = (max: number, byDefault: number) => z.coerce.number().int().min(1).max(max).default(byDefault);

/** Derives the handler's types from the schemas, by which requests are validated. */
export function route<P extends z.ZodObject, Q extends z.ZodObject, R extends z.ZodType>(
  path: string,
  scope: Scope,
  summary: string,
  params: P,
  query: Q,
  response: R,
  handle: (context: RouteContext, params: z.infer<P>, query: z.infer<Q>) => z.infer<R> | Promise<z.infer<R>>,
): Route {
  return { path, scope, summary, params, query, response, handle: handle as Route['handle'] };
}

/** A response with a list. */
export const items = <T extends z.ZodType>(of: T) => z.object({ items: z.array(of).readonly() });

/** A route that returns a list without parameters. */
export function listRoute<T extends z.ZodType>(
  path: string,
  scope: Scope,
  summary: string,
  item: T,
  load: (context: RouteContext) => Promise<readonly z.infer<T>[]>,
): Route {
  return route(path, scope, summary, noParams, noParams, items(item), async (context) => ({
    items: await load(context),
  }));
}
