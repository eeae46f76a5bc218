import { type Causes, traceContext } from '@sluice/messages';
import { expect, test } from 'vitest';
import { ExportedMetrics } from './testing/exported-metrics.ts';

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';

function causes(isSampled: boolean): Causes {
  const cause = (observedAt: number) => ({ description: 'Pod shop/cart-x7 became not ready', observedAt });
  const traces = [traceContext(traceId, '00f067aa0ba902b7', isSampled)];
  return { first: [cause(1_000), cause(2_900)], more: 0, traces };
}

const exemplars = async (of: Causes) => {
  const exported = new ExportedMetrics();
  exported.completed('endpoints', 'applied', { causes: of });
  const body = await exported.openMetrics();
  return body
    .split('\n')
    .flatMap((line) => /^(\w+)_bucket\{le="([\d.]+)".* # (\{.*\} [\d.]+) /.exec(line)?.slice(1) ?? []);
};

test('the trace of a sampled plan is the exemplar of its earliest cause in the latency histograms', async () => {
  expect(await exemplars(causes(true))).toEqual([
    ...['sluice_change_to_write_seconds', '2.5', `{trace_id="${traceId}"} 2`],
    ...['sluice_trigger_to_applied_seconds', '2.5', `{trace_id="${traceId}"} 2`],
  ]);
});

test('an unsampled trace is not an exemplar', async () => {
  expect(await exemplars(causes(false))).toEqual([]);
});
