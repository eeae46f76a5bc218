import type { Controller } from '@sluice/controllers';
import type { ReadyEndpointsDelta } from '@sluice/messages';
import { DropFromPeak } from './drop-from-peak.ts';
import { getOrInsert, MassChangeGuard, type RecentChange, windowMs } from './mass-change-guard.ts';

/**
 * Detects that a large share of a cluster's ready endpoints is about to be removed within a minute, as an erroneously
 * empty list would cause (ADR 0029).
 */
export class MassRemovalGuard extends MassChangeGuard {
  readonly #drops = new Map<Controller, DropFromPeak>();

  protected override concerns({ delta }: ReadyEndpointsDelta): boolean {
    return delta < 0;
  }

  protected override count(
    controller: Controller,
    delta: ReadyEndpointsDelta | undefined,
    ready: number,
    now: number,
  ): RecentChange {
    const drop = getOrInsert(this.#drops, controller, () => new DropFromPeak(windowMs));
    const changed = drop.add(delta?.delta ?? 0, now);
    return { changed, before: ready + changed, total: ready + changed };
  }
}
