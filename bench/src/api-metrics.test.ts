import { expect, it } from 'vitest';
import { parseWriteCounts, totalWrites, writesBetween } from './api-metrics.ts';

const metric = (verb: string, resource: string, code: string, value: string) =>
  `apiserver_request_total{code="${code}",component="apiserver",dry_run="",group="g",resource="${resource}",` +
  `scope="resource",subresource="",verb="${verb}",version="v1"} ${value}`;

const text = [
  '# HELP apiserver_request_total Counter of apiserver requests broken out for each verb, dry run value, …',
  metric('PUT', 'endpointslices', '200', '1234'),
  metric('PUT', 'endpointslices', '409', '2'),
  metric('POST', 'endpoints', '201', '1.5e+03'),
  metric('POST', 'events', '201', '1'),
  metric('LIST', 'endpointslices', '200', '9'),
  metric('PUT', 'pods', '200', '77'),
  metric('PUT', 'leases', '200', '5'),
  'apiserver_request_duration_seconds_sum{verb="PUT",resource="endpointslices"} 3',
].join('\n');

it('counts writes of controllers by verb, resource and failure', () => {
  expect(parseWriteCounts(text)).toEqual({
    'update endpointslices': 1234,
    'update endpointslices (409)': 2,
    'create endpoints': 1500,
    'create events': 1,
  });
});

it('computes the difference of two scrapes', () => {
  const before = { 'update endpoints': 10, 'create endpoints': 3 };
  const between = writesBetween(before, { 'update endpoints': 15, 'create endpoints': 3, 'delete endpoints': 1 });
  expect(between).toEqual({ 'delete endpoints': 1, 'update endpoints': 5 });
  expect(totalWrites(between)).toBe(6);
});
