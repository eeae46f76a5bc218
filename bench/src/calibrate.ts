const sample = {
  metadata: { name: 'web-0', namespace: 'shop', labels: { app: 'web', tier: 'backend' } },
  endpoints: Array.from({ length: 20 }, (_, i) => ({
    addresses: [`10.0.0.${i}`],
    conditions: { ready: i % 2 === 0, serving: true, terminating: false },
    nodeName: `node-${i}`,
  })),
};

/** CPU time of a fixed piece of work of the same kind, in microseconds: the unit in which machines can be compared. */
export function calibrate(repetitions: number): number {
  const before = process.threadCpuUsage();
  let length = 0;
  for (let i = 0; i < repetitions; i++) length += JSON.stringify(JSON.parse(JSON.stringify(sample))).length;
  const { user, system } = process.threadCpuUsage(before);
  if (length === 0) throw new Error('nothing was done');
  return (user + system) / repetitions;
}
