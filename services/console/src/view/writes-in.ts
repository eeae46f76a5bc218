import { isReturned } from '../../page/entry-text.ts';
import type { CompletedEntry, Entry } from './entry-schemas.ts';

/** A write of Sluice, or of another controller as a watcher saw it. */
export interface WriteInHistory
  extends Pick<CompletedEntry, 'at' | 'status' | 'latencyMs' | 'causes' | 'spent' | 'endpoints' | 'traceparent'> {
  /** The controller of Sluice, or the field manager of the other; empty if it is unknown. */
  readonly controller: string;
  /** Whether it wrote anything. */
  readonly isApplied: boolean;
}

export function writesIn(entry: Entry): readonly WriteInHistory[] {
  switch (entry.kind) {
    case 'decided':
      return [];
    case 'completed':
      if (isReturned(entry)) return [];
      return [{ ...entry, isApplied: entry.status === 'applied' && entry.writes.length > 0 }];
    case 'observed':
      return entry.observations.flatMap(({ write }) => {
        if (write === undefined) return [];
        const { manager, latencyMs, causes, endpoints } = write;
        return {
          at: entry.at,
          status: 'applied',
          isApplied: true,
          controller: manager ?? '',
          latencyMs,
          causes,
          endpoints,
        };
      });
  }
}
