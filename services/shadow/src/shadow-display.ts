import { type PageSize, print, RedrawnBlock, type TerminalOutput } from '@sluice/platform/process';
import { renderPage } from './page.ts';
import { describeReported, type ReportedDifference, type ShadowReport } from './report.ts';
import { verdictOf } from './verdict.ts';

/** Shows the progress of a shadow run. */
export interface ShadowDisplay {
  /** Interval between calls of `status`, in milliseconds. */
  readonly everyMs: number;
  /** All caches are synced. */
  started(report: ShadowReport): void;
  status(report: ShadowReport): void;
  difference(difference: ReportedDifference): void;
  resolved(difference: ReportedDifference): void;
  ended(report: ShadowReport): void;
}

type Write = (text: string) => void;

/** Prints one JSON object per line; the last one is the report. */
export function jsonShadow(write: Write): ShadowDisplay {
  const line = (value: object) => write(`${JSON.stringify(value)}\n`);
  return {
    everyMs: 10_000,
    started: ({ clusters, services }) => line({ event: 'started', clusters, services }),
    status: ({ differences: _, ...status }) => line({ event: 'status', ...status }),
    difference: (difference) => line({ event: 'difference', ...difference }),
    resolved: ({ cluster, namespace, service, controller, since }) =>
      line({ event: 'resolved', cluster, namespace, service, controller, since }),
    ended: (report) => line({ event: 'report', verdict: verdictOf(report).result, ...report }),
  };
}

/** Redraws a page in place. */
export function pageShadow(output: TerminalOutput, size: () => PageSize): ShadowDisplay {
  const block = new RedrawnBlock(output);
  return {
    everyMs: 1_000,
    started() {},
    // One line less than the terminal, for the cursor.
    status: (report) => block.draw(renderPage(report, { ...size(), height: size().height - 1 })),
    difference() {},
    resolved() {},
    ended: (report) => {
      block.draw(renderPage(report, { ...size(), height: Number.MAX_SAFE_INTEGER }));
      block.leave();
      print(output, `${verdictOf(report).text}\n`);
    },
  };
}

/** For output that is not a terminal: differences when found, and a page from time to time. */
export function logShadow(write: Write, width: number): ShadowDisplay {
  const page = (report: ShadowReport, height: number) =>
    write(`${renderPage(report, { width, height }).join('\n')}\n\n`);
  return {
    everyMs: 60_000,
    started() {},
    status: (report) => page(report, 10),
    difference: (difference) => write(`${describeReported(difference).join('\n')}\n\n`),
    resolved() {},
    ended: (report) => {
      page(report, Number.MAX_SAFE_INTEGER);
      write(`${verdictOf(report).text}\n`);
    },
  };
}
