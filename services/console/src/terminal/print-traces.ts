import { formatDuration, formatTable, localTime } from '@sluice/platform/process';
import type { HistoryView } from '../view/schemas.ts';
import { causesText, type TextFormat, traceOf } from './text.ts';

interface TraceLine {
  readonly at: number;
  readonly traceId: string;
  /** False if the trace was not sampled; then there is no link. */
  readonly recorded: boolean;
  readonly link: string | null;
  readonly controller: string;
  readonly status: string;
  readonly latencyMs: number | null;
  readonly causes: string;
}

/** Traces of writes, newest first. */
export function traceLines({ entries }: HistoryView, jaeger: string | null): readonly TraceLine[] {
  return entries
    .flatMap((entry): TraceLine[] => {
      const trace = entry.kind === 'completed' ? traceOf(entry.traceparent) : undefined;
      if (entry.kind !== 'completed' || trace === undefined) return [];
      const link = jaeger !== null && trace.recorded ? jaeger.replaceAll('{traceId}', trace.id) : null;
      const { at, controller, status, latencyMs } = entry;
      return [
        {
          at,
          traceId: trace.id,
          recorded: trace.recorded,
          link,
          controller,
          status,
          latencyMs,
          causes: causesText(entry.causes),
        },
      ];
    })
    .reverse();
}

export function printTraces(lines: readonly TraceLine[], { now, width }: TextFormat): string {
  return formatTable(
    ['TIME', 'TOOK', 'CONTROLLER', 'STATUS', 'TRACE', 'BECAUSE'],
    lines.map(({ at, traceId, recorded, link, controller, status, latencyMs, causes }) => [
      localTime(at, now),
      latencyMs === null ? '' : formatDuration(latencyMs),
      controller,
      status,
      link ?? (recorded ? traceId : `${traceId} (not recorded)`),
      causes,
    ]),
    width,
  );
}
