import type { Command } from 'commander';
import { inRange } from './settings-options.ts';

/** Limits per cluster. */
export interface WriterLimits {
  readonly maxWritesInFlight: number;
  /** 0: unlimited. */
  readonly maxWritesPerSecond: number;
  /** See RetryLimit; 0: unlimited. */
  readonly maxRetriesPerSecond: number;
  /** Maximum concurrent requests of each controller; 0: only `maxWritesInFlight` bounds them. */
  readonly concurrentEndpointSyncs: number;
  readonly concurrentServiceEndpointSyncs: number;
  readonly mirroringConcurrentServiceEndpointSyncs: number;
  /** Percentage; see MassChangeGuard. */
  readonly maxRemovalPercent: number;
  /** Percentage; see MassChangeGuard. */
  readonly maxAdditionPercent: number;
}

/** Flags of the writer. */
export interface WriterOptions extends WriterLimits {
  /** Write even if another controller seems to write the same objects. */
  readonly takeOver: boolean;
  /** Write with the ServiceAccount of each controller. */
  readonly useServiceAccountCredentials: boolean;
}

export const writerDefaults: WriterOptions = {
  maxWritesInFlight: 64,
  maxWritesPerSecond: 0,
  maxRetriesPerSecond: 0,
  concurrentEndpointSyncs: 0,
  concurrentServiceEndpointSyncs: 0,
  mirroringConcurrentServiceEndpointSyncs: 0,
  maxRemovalPercent: 25,
  maxAdditionPercent: 25,
  takeOver: false,
  useServiceAccountCredentials: false,
};

export function addWriterOptions(command: Command): Command {
  return command
    .optionsGroup('Writes:')
    .option('--take-over', 'write even if kube-controller-manager seems to write the same objects')
    .option(
      '--use-service-account-credentials',
      "write with the credentials of each controller's own ServiceAccount in kube-system",
    )
    .option(
      '--max-writes-in-flight <n>',
      'maximum concurrent requests per cluster; fewer while its API server is slow or refuses, 1–1000',
      inRange('--max-writes-in-flight', 1, 1000),
      writerDefaults.maxWritesInFlight,
    )
    .option(
      '--max-writes-per-second <n>',
      'maximum requests per second and cluster; 0: unlimited',
      inRange('--max-writes-per-second', 0, 10_000),
      writerDefaults.maxWritesPerSecond,
    )
    .option(
      '--max-retries-per-second <n>',
      'maximum retries per second and cluster, with a burst of ten seconds; 0: unlimited',
      inRange('--max-retries-per-second', 0, 1000),
      writerDefaults.maxRetriesPerSecond,
    )
    .option(
      '--concurrent-endpoint-syncs <n>',
      'maximum concurrent requests of the Endpoints controller per cluster; 0: as --max-writes-in-flight',
      inRange('--concurrent-endpoint-syncs', 0, 1000),
      writerDefaults.concurrentEndpointSyncs,
    )
    .option(
      '--concurrent-service-endpoint-syncs <n>',
      'as above, of the EndpointSlice controller, 0–50',
      inRange('--concurrent-service-endpoint-syncs', 0, 50),
      writerDefaults.concurrentServiceEndpointSyncs,
    )
    .option(
      '--mirroring-concurrent-service-endpoint-syncs <n>',
      'as above, of the EndpointSliceMirroring controller, 0–50',
      inRange('--mirroring-concurrent-service-endpoint-syncs', 0, 50),
      writerDefaults.mirroringConcurrentServiceEndpointSyncs,
    )
    .option(
      '--max-removal-percent <n>',
      'percentage of its ready endpoints a cluster may lose in a minute before further removals need\nconfirmation by the API server, 1–100; 100: no guard',
      inRange('--max-removal-percent', 1, 100),
      writerDefaults.maxRemovalPercent,
    )
    .option(
      '--max-addition-percent <n>',
      "new addresses within a minute, as a percentage of a cluster's ready endpoints, before further ones need\nconfirmation by the API server, 1–100; 100: no guard",
      inRange('--max-addition-percent', 1, 100),
      writerDefaults.maxAdditionPercent,
    );
}
