import { expect, test } from 'vitest';
import { z } from 'zod';
import { eventRoutes } from './event-routes.ts';
import { openApi } from './openapi.ts';
import { routes } from './routes.ts';

interface Described {
  readonly get: {
    readonly summary: string;
    readonly parameters: { name: string; in: string; required: boolean; schema: object }[];
    readonly responses: Record<
      string,
      { description: string; content: Record<string, { schema: Record<string, unknown> }> }
    >;
  };
}

function describeApi() {
  const description = openApi(routes, eventRoutes, '1.2.3');
  const paths = description.paths as unknown as Record<string, Described>;
  return { description, paths, get: (path: string) => paths[path]?.get ?? expect.unreachable(path) };
}

test('every route is described under its path, with the version of the console', () => {
  const { description, paths } = describeApi();
  expect(description.openapi).toBe('3.1.0');
  expect(description.info).toMatchObject({ title: 'Sluice console', version: '1.2.3' });
  expect(Object.keys(paths)).toHaveLength(routes.length + eventRoutes.length);
  expect(Object.keys(paths)).toContain('/api/v1/services/{cluster}/{namespace}/{service}/pods/{pod}');
});

test('parameters of the path are required, those of the query are not', () => {
  const { get } = describeApi();
  const { parameters } = get('/api/v1/services/{cluster}/{namespace}/{service}/history');
  expect(parameters.map(({ name, in: place, required }) => [name, place, required])).toEqual([
    ['cluster', 'path', true],
    ['namespace', 'path', true],
    ['service', 'path', true],
    ['since', 'query', false],
    ['until', 'query', false],
    ['pod', 'query', false],
    ['limit', 'query', false],
  ]);
  expect(parameters.at(-1)?.schema).toMatchObject({ type: 'integer', minimum: 1, maximum: 5_000, default: 500 });
  expect(get('/api/v1/overview').parameters).toEqual([]);
});

test('a query parameter without a default is required', () => {
  const [route] = routes;
  if (route === undefined) return expect.unreachable();
  const given = { ...route, query: z.object({ needed: z.string(), optional: z.string().optional() }) };
  const described = openApi([given], [], '1').paths as unknown as Record<string, Described>;
  expect(described['/api/v1/overview']?.get.parameters.map(({ name, required }) => [name, required])).toEqual([
    ['needed', true],
    ['optional', false],
  ]);
});

test('responses are JSON, streams are events with their data; errors are described once', () => {
  const { description, get } = describeApi();
  const { summary, responses } = get('/api/v1/services');
  expect(responses['200']?.description).toBe(summary);
  expect(responses['200']?.content['application/json']?.schema).toMatchObject({
    type: 'object',
    properties: { total: { type: 'number' }, items: { type: 'array' } },
  });
  expect(responses['200']?.content['application/json']?.schema).not.toHaveProperty('$schema');
  const stream = get('/api/v1/stream').responses['200']?.content['text/event-stream']?.schema;
  expect(stream).toMatchObject({ anyOf: [{ title: 'event update', type: 'object' }] });
  expect(responses.default?.content['application/json']?.schema).toEqual({ $ref: '#/components/schemas/Problem' });
  expect(description.components.schemas.Problem).toMatchObject({
    type: 'object',
    properties: { error: { type: 'string' }, hint: { type: 'string' } },
    required: ['error'],
  });
});
