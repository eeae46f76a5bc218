import { z } from 'zod';
import { problem } from '../view/schemas.ts';
import type { EventRoute } from './event-routes.ts';
import type { Route } from './route.ts';

/** The OpenAPI 3.1 description of the routes, from the schemas that validate requests. */
export function openApi(routes: readonly Route[], eventRoutes: readonly EventRoute[], version: string) {
  return {
    openapi: '3.1.0',
    info: {
      title: 'Sluice console',
      version,
      description: 'Read-only API: what was observed, decided and written for the endpoints of Services.',
    },
    paths: Object.fromEntries([
      ...routes.map((route) => [pathOf(route), pathItem(route, 'application/json', jsonSchema(route.response))]),
      ...eventRoutes.map((route) => [pathOf(route), pathItem(route, 'text/event-stream', eventSchema(route))]),
    ]),
    components: { schemas: { Problem: jsonSchema(problem) } },
  };
}

const pathOf = ({ path }: Pick<Route, 'path'>): string => path.replaceAll(/:([a-z]+)/g, '{$1}');

/** OpenAPI 3.1 cannot describe events, so the schema is that of their data. */
function eventSchema({ events }: EventRoute) {
  return { anyOf: Object.entries(events).map(([name, data]) => ({ title: `event ${name}`, ...jsonSchema(data) })) };
}

type Described = Pick<Route, 'summary' | 'params' | 'query'>;

function pathItem({ summary, params, query }: Described, type: string, schema: unknown) {
  const error = {
    description: 'error, with a hint about what to do',
    content: { 'application/json': { schema: { $ref: '#/components/schemas/Problem' } } },
  };
  return {
    get: {
      summary,
      parameters: [...parameters('path', params), ...parameters('query', query)],
      responses: {
        200: { description: summary, content: { [type]: { schema } } },
        default: error,
      },
    },
  };
}

function parameters(place: 'path' | 'query', object: z.ZodObject) {
  const { properties = {}, required = [] } = jsonSchema(object, 'input');
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    in: place,
    required: place === 'path' || required.includes(name),
    schema,
  }));
}

function jsonSchema(schema: z.ZodType, io: 'input' | 'output' = 'output') {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io, unrepresentable: 'any' });
  return rest;
}
