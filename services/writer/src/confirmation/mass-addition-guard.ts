import type { Controller } from '@sluice/controllers';
import type { ReadyEndpointsDelta } from '@sluice/messages';
import { DropFromPeak } from './drop-from-peak.ts';
import { getOrInsert, MassChangeGuard, type RecentChange, windowMs } from './mass-change-guard.ts';
import { RecentSum } from './recent-sum.ts';

interface Level {
  readonly added: RecentSum;
  /** How far the ready endpoints have risen within the window. */
  readonly rise: DropFromPeak;
}

/**
 * Detects that a large share of a cluster's endpoints gets new addresses within a minute, as another API server in its
 * place would cause (ADR 0029). While a new cluster fills, there is nothing to replace.
 */
export class MassAdditionGuard extends MassChangeGuard {
  readonly #levels = new Map<Controller, Level>();

  protected override concerns({ added }: ReadyEndpointsDelta): boolean {
    return added !== undefined;
  }

  protected override count(
    controller: Controller,
    delta: ReadyEndpointsDelta | undefined,
    ready: number,
    now: number,
  ): RecentChange {
    const { added, rise } = getOrInsert(this.#levels, controller, () => ({
      added: new RecentSum(windowMs),
      rise: new DropFromPeak(windowMs),
    }));
    const risen = rise.add(-(delta?.delta ?? 0), now);
    return { changed: added.add(delta?.added?.count ?? 0, now), before: ready - risen, total: ready };
  }
}
