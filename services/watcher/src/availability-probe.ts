import { type ClusterReader, isApiError } from '@sluice/kubernetes';
import { type Clock, sleep } from '@sluice/platform';
import type { AvailabilityMonitor } from './availability-monitor.ts';

interface ProbeOptions {
  readonly reader: Pick<ClusterReader, 'ping'>;
  readonly clock: Clock;
  readonly availability: AvailabilityMonitor;
  /** The API server answers again: what waits for it, or reads connections from before, need not wait longer. */
  readonly onAnswer: () => void;
}

/** Watches of an idle cluster are silent for up to a minute, until the next bookmark. */
const maxSilentMs = 5_000;
/** Between attempts while the API server does not answer. */
const retryMs = 1_000;

/**
 * Sends the API server a small request when it has sent nothing for a while, so that one that is silent, such as a frozen one
 * or one behind a dead link, is noticed within ten seconds, and one that answers again within two.
 */
export async function probeAvailability(options: ProbeOptions, signal: AbortSignal): Promise<void> {
  const { reader, clock, availability, onAnswer } = options;
  const { ping } = reader;
  if (ping === undefined) return;
  while (!signal.aborted) {
    const silentMs = clock.monotonic() - availability.lastAnsweredAt;
    const waitMs = availability.isFailing ? retryMs : maxSilentMs - silentMs;
    if (waitMs > 0) {
      await sleep(clock, waitMs, signal);
      if (!availability.isFailing && clock.monotonic() - availability.lastAnsweredAt < maxSilentMs) continue;
    }
    if (signal.aborted) return;
    const sentAt = clock.now();
    try {
      await ping(signal);
      availability.responded();
      if (availability.isFailing) onAnswer();
    } catch (error) {
      if (signal.aborted) return;
      if (!isApiError(error)) throw error;
      availability.failed(error, sentAt);
    }
  }
}
