import { type ClusterReader, isApiError } from '@sluice/kubernetes';
import { type Clock, sleep } from '@sluice/platform';
import type { AvailabilityMonitor } from './availability-monitor.ts';

interface ProbeOptions {
  readonly reader: Pick<ClusterReader, 'ping'>;
  readonly clock: Clock;
  readonly availability: AvailabilityMonitor;
  /**
   * The API server responds, while the last other request has failed. `wasSilent`: the first response after probes have failed, so open
   * connections may be dead.
   */
  readonly onResponse: (wasSilent: boolean) => void;
}

/** An idle cluster sends nothing until the next bookmark, which may take a minute. */
const maxSilentMs = 5_000;
/** Between probes while requests fail. */
const retryMs = 1_000;

/**
 * Probes the API server when it has sent nothing for a while. One that is frozen or behind a dead link is noticed within ten seconds,
 * and one that responds again within a few seconds.
 */
export async function probeAvailability(options: ProbeOptions, signal: AbortSignal): Promise<void> {
  const { reader, clock, availability, onResponse } = options;
  const { ping } = reader;
  if (ping === undefined) return;
  let isSilent = false;
  while (!signal.aborted) {
    const silentMs = clock.monotonic() - availability.lastAnsweredAt;
    const waitMs = availability.isFailing ? retryMs : maxSilentMs - silentMs;
    if (waitMs > 0) {
      await sleep(clock, waitMs, signal);
      if (!availability.isFailing && clock.monotonic() - availability.lastAnsweredAt < maxSilentMs) continue;
    }
    if (signal.aborted) return;
    const sent = { at: clock.now(), monotonic: clock.monotonic() };
    try {
      await ping(signal);
      availability.responded();
      if (availability.isFailing) onResponse(isSilent);
      isSilent = false;
    } catch (error) {
      if (signal.aborted) return;
      if (!isApiError(error)) throw error;
      // An event has arrived meanwhile.
      if (availability.lastAnsweredAt > sent.monotonic) continue;
      isSilent = true;
      availability.failed(error, sent.at);
    }
  }
}
