import { type Capacity, type CapacityOptions, capacityOf, type Limit } from '@sluice/capacity';
import { defaultsOf, inRange } from '@sluice/fleet/configuration';
import { defaultPartitions } from '@sluice/messages';
import { columnsOf, formatTable, print } from '@sluice/platform/process';
import { type Command, Option } from 'commander';

interface Options extends CapacityOptions {
  readonly output: 'table' | 'json';
}

export function addCapacityCommand(program: Command): void {
  const { maxServices } = defaultsOf('console');
  const count = (name: string, max: number, min = 1) => inRange(name, min, max);
  program
    .command('capacity')
    .summary('estimate the size of a fleet and its servers')
    .description(
      'Prints workers, CPU, memory, bandwidth and disk for clusters of the same size, from measured costs.\n' +
        'Services, Pods and changes are those of all clusters together. See docs/operations/capacity.md.',
    )
    .option('--clusters <n>', 'number of clusters', count('--clusters', 1_000_000), 1)
    .option('--services <n>', 'Services in all clusters', count('--services', 1e9, 0), 100)
    .option('--pods <n>', 'Pods in all clusters', count('--pods', 1e9, 0), 1_000)
    .option('--changes <n>', 'Pods that become ready or not ready, per second', count('--changes', 1e7, 0), 20)
    .option('--partitions <n>', 'partitions of a fleet', count('--partitions', 4_096), defaultPartitions)
    .option('--replicas <n>', 'copies of each stream of NATS', count('--replicas', 5), 1)
    .option('--max-services <n>', 'console.maxServices', count('--max-services', 10_000_000), maxServices)
    .addOption(new Option('-o, --output <format>', 'output format').choices(['table', 'json']).default('table'))
    .action((options: Options) => {
      const capacity = capacityOf(options);
      print(process.stdout, options.output === 'json' ? `${JSON.stringify(capacity)}\n` : tableOf(capacity));
    });
}

const limits: Readonly<Record<Limit, string>> = {
  'worker CPU': 'the event loop of a worker',
  'worker memory': 'the memory of a worker',
  'Redis CPU': 'Redis, which runs scripts on one core',
  partitions: 'the number of partitions',
  availability: 'so that one can fail',
};

function tableOf(capacity: Capacity): string {
  const { fleets, fleetLimit, workers, workerLimit, usage, workerMemory, console } = capacity;
  const { worker, nats, redis } = usage;
  const rows: (readonly string[])[] = [
    ['workers', String(workers), cores(worker.cpu), `${megabytes(workerMemory)} each`, limits[workerLimit]],
    [
      ...['NATS', '', cores(nats.cpu), megabytes(capacity.natsMemory)],
      `${rate(usage.natsIn)} in, ${rate(usage.natsOut)} out; disk ${megabytes(capacity.natsDiskReserved)} reserved, ${megabytes(capacity.natsDiskUsed)} used by a day of records`,
    ],
    ['Redis', '', cores(redis.cpu), megabytes(redis.memory), `maxmemory ${megabytes(capacity.redisMaxMemory)}`],
    [
      'console',
      '',
      cores(console.cpu),
      megabytes(console.memory),
      'all Services joined over all clusters; CPU without reading the bus',
    ],
    [
      ...['API servers', '', '', ''],
      `${Math.ceil(capacity.apiRequests)} requests/s in total, ${capacity.watches} watches`,
    ],
    [
      'start',
      '',
      '',
      '',
      `${Math.ceil(usage.startCpuSeconds)} s of CPU, at least ${Math.ceil(capacity.startSeconds)} s`,
    ],
  ];
  const table = formatTable(['PART', 'COUNT', 'CORES', 'MEMORY', 'NOTES'], rows, columnsOf(process.stdout));
  return `${fleetsText(fleets, fleetLimit)}${table}`;
}

function fleetsText(fleets: number, limit: Limit | undefined): string {
  if (limit === undefined) return '';
  const reason = limits[limit];
  if (fleets === 1) return `One fleet is not enough, and its only cluster cannot be divided: the limit is ${reason}.\n`;
  return `${fleets} fleets, each with these parts and a share of the clusters: one fleet is limited by ${reason}.\n`;
}

const cores = (ms: number): string => (ms / 1_000).toFixed(2);
const megabytes = (mb: number): string => (mb >= 10_000 ? `${(mb / 1_000).toFixed(1)} GB` : `${Math.ceil(mb)} MB`);
const rate = (kb: number): string => (kb >= 10_000 ? `${(kb / 1_000).toFixed(1)} MB/s` : `${Math.ceil(kb)} kB/s`);
