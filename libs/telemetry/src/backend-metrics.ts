import type { Exposition } from './prometheus/exposition.ts';
import { observableGauge } from './prometheus/metrics.ts';
import type { Check } from './server/health.ts';

/** Exposes whether bus and store answer: at each scrape, the result of a check per server. */
export function backendGauge(exposition: Exposition, checks: () => readonly Check[]): void {
  const about = {
    name: 'sluice_backend_up',
    help: '1 if bus or store answers this process within a second, else 0',
    labelNames: ['backend'],
  };
  observableGauge(exposition, about, async (report) => {
    const results = await Promise.allSettled(checks().map(async ({ name, run }) => ({ name, text: await run() })));
    for (const [i, { name }] of checks().entries())
      report(results[i]?.status === 'fulfilled' ? 1 : 0, { backend: name });
  });
}
