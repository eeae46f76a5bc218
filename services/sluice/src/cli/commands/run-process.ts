import { type Configuration, configurationOf, rereadConfigurationOf } from '@sluice/fleet/configuration';
import type { StartLeaseThread } from '@sluice/fleet/lease-thread';
import { BusClaim, type OpenInfrastructure, openInfrastructure, retryUntilConnected } from '@sluice/fleet/roles';
import type { Clock, Logger, Random } from '@sluice/platform';
import {
  closing,
  createLogger,
  exitSoon,
  type RootLogger,
  type ShutdownStep,
  shutDown,
  stopSignal,
  systemClock,
  systemRandom,
} from '@sluice/platform/process';
import type { Command } from 'commander';

interface Ports {
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
}

/** What a started process does until it is stopped. */
interface Running {
  /** Rejects on a fatal error. */
  readonly done: Promise<unknown>;
  /** Stops the process, before bus and store are closed. */
  readonly stop: readonly ShutdownStep[];
}

interface Configured {
  readonly configuration: Configuration;
  /** Reads the configuration again. */
  readonly reread: () => Configuration;
  readonly log: RootLogger;
}

/** Loads the configuration of a command and logs its warnings. */
export async function configure(command: Command): Promise<Configured> {
  const warnings: string[] = [];
  const configuration = await configurationOf(command, process.env, (warning) => warnings.push(warning));
  const log = createLogger(configuration.log.format, configuration.log.level);
  for (const warning of warnings) log.warn(warning);
  return { configuration, reread: await rereadConfigurationOf(command, process.env), log };
}

export interface Process {
  /** It only reads what the fleet does, and claims nothing. */
  readonly observes?: boolean;
  /** Starts the thread that renews its leases. Default: it holds none. */
  readonly startLeaseThread?: StartLeaseThread;
  readonly start: (infrastructure: OpenInfrastructure, ports: Ports) => Promise<Running>;
}

/**
 * Connects to bus and store of a fleet and runs a process in the foreground until SIGINT or SIGTERM.
 *
 * @throws UsageError if the fleet uses another bus
 */
export async function runProcess(
  { configuration, reread }: Omit<Configured, 'log'>,
  logger: Logger,
  { observes = false, startLeaseThread, start }: Process,
): Promise<void> {
  const ports = { clock: systemClock, random: systemRandom, logger };
  const { stopped, cancel } = stopSignal(undefined, logger);
  const stopping = new AbortController();
  void stopped.then(() => stopping.abort());
  try {
    for (;;) {
      const infrastructure = await retryUntilConnected(
        () => openInfrastructure(configuration, { ...ports, reread, startLeaseThread }),
        ports,
        stopped,
      );
      if (infrastructure === undefined) return logger.info('stopped before connecting to bus and store');
      const generation = new AbortController();
      let ended: unknown;
      try {
        const claim = new BusClaim({ ...infrastructure, ...ports, fleet: configuration.fleet });
        if (observes) await claim.verify();
        else await claim.acquire(stopping.signal);
        if (stopping.signal.aborted) return logger.info('stopped before the bus was claimed');
        const { done, stop } = await start(infrastructure, ports);
        try {
          const { signal } = generation;
          const superseded = infrastructure.generation.superseded(signal).then(() => 'superseded');
          const claimed = observes ? [] : [claim.keep(AbortSignal.any([stopping.signal, signal]))];
          ended = await Promise.race([stopped, done, ...claimed, superseded]);
        } finally {
          generation.abort();
          await shutDown(stop, ports);
        }
        if (ended !== 'superseded' || stopping.signal.aborted) return logger.info('stopped');
      } finally {
        await shutDown([closing(infrastructure)], ports);
      }
    }
  } finally {
    stopping.abort();
    cancel();
    exitSoon(logger);
  }
}
