const sample = {
  metadata: { name: 'web-0', namespace: 'shop', labels: { app: 'web', tier: 'backend' } },
  endpoints: Array.from({ length: 20 }, (_, i) => ({
    addresses: [`10.0.0.${i}`],
    conditions: { ready: i % 2 === 0, serving: true, terminating: false },
    nodeName: `node-${i}`,
  })),
};

/**
 * Duration of a fixed workload, in microseconds: the unit for comparing machines. The operating system's CPU times are too coarse
 * for few repetitions.
 */
export function timeUnit(repetitions: number): number {
  const before = performance.now();
  roundTrips(repetitions);
  return ((performance.now() - before) * 1_000) / repetitions;
}

function roundTrips(repetitions: number): void {
  let length = 0;
  for (let i = 0; i < repetitions; i++) length += JSON.stringify(JSON.parse(JSON.stringify(sample))).length;
  if (length === 0 && repetitions > 0) throw new Error('the calibration workload did nothing');
}
