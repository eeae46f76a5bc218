import type { Overview, ProblemCounts } from '../../src/view/schemas.ts';
import { api } from '../api.ts';
import { dateAndTime, shortTime } from '../format.ts';
import { html } from '../html.ts';
import { Link, type RecordingRoute } from '../router.ts';
import type { TimeRange } from '../time-range.ts';
import { useLoaded } from '../use-loaded.ts';
import { useMedia } from '../use-media.ts';
import { BeltTimes } from './belt.ts';
import { moveBetweenCells } from './move-between-cells.ts';
import { Failed } from './notice.ts';
import { type Bucket, bucketsOf, bucketsWith, countsText, severities, totalOf, worstOf } from './problem-buckets.ts';
import { VirtualRows } from './virtual-rows.ts';

interface ProblemMapProps {
  readonly route: RecordingRoute;
  readonly period: TimeRange;
  readonly overview: Overview;
}

type Row = ProblemCounts['clusters'][number];

const [wideRow, narrowRow] = [28, 48];
const [wideBuckets, narrowBuckets] = [48, 20];

/** Clusters from top to bottom, time from left to right: how many problems, and how severe. Each cell leads to its problems. */
export function ProblemMap({ route, period, overview }: ProblemMapProps) {
  const isNarrow = useMedia('(max-width: 640px)');
  const buckets = bucketsOf(period, isNarrow ? narrowBuckets : wideBuckets);
  const { since, until, stepMs } = buckets;
  const ask = (signal: AbortSignal) => api.problemCounts({ since, until, stepMs }, signal);
  // The last bucket gets more problems until it ends.
  const [loaded] = useLoaded(ask, [since, stepMs, period.until]);
  if (loaded.state === 'loading') return null;
  if (loaded.state === 'failed') return html`<${Failed} problem=${loaded.problem} />`;
  const { recording, gaps } = overview;
  const recorded = { since: recording?.from ?? since, until: recording?.to ?? until };
  // The answer of a period that is not shown any more has other buckets.
  const rows = loaded.value.stepMs === stepMs ? loaded.value.clusters : [];
  const rowOf = (index: number) => {
    const row = rows[index];
    if (row === undefined) return html`<div></div>`;
    const cells = bucketsWith(row.cells, buckets, { recorded, gaps });
    return html`<div class="row" role="listitem" key=${row.cluster}>
      <span class="name" title=${row.clusterName}>${row.clusterName}</span>
      <div class="cells">
        ${cells.map((bucket, column) => html`<${Cell} row=${row} index=${index} column=${column} bucket=${bucket} route=${route} />`)}
      </div>
    </div>`;
  };
  return html`<section class="heat" aria-label="problems by cluster and time" onKeyDown=${moveBetweenCells}>
    <${BeltTimes} since=${since} until=${until} />
    <${VirtualRows} count=${rows.length} rowHeight=${isNarrow ? narrowRow : wideRow} row=${rowOf} role="list" />
    <p class="legend">
      ${severities.map((severity) => html`<span><i class=${severity}>1</i>${severity}</span>`)}
      <span><i class="unrecorded"></i>not recorded</span>
    </p>
  </section>`;
}

interface CellProps {
  readonly row: Row;
  readonly index: number;
  readonly column: number;
  readonly bucket: Bucket;
  readonly route: RecordingRoute;
}

/** The number is that of all problems, the look that of the worst. */
function Cell({ row, index, column, bucket, route }: CellProps) {
  const { since, until, counts, recorded } = bucket;
  const where = `${row.clusterName}, ${dateAndTime(since)} to ${shortTime(until, since)}`;
  const part = recorded < 1 ? ', recorded in part' : '';
  if (counts === null) {
    return recorded > 0
      ? html`<i title=${`${where}: no problems${part}`}></i>`
      : html`<i class="unrecorded" title=${`${where}: not recorded`}></i>`;
  }
  const isOfCluster = route.cluster === undefined || route.cluster === row.cluster || route.cluster === row.clusterName;
  const isChosen = route.range !== undefined && isOfCluster && route.range.since < until && route.range.until > since;
  const total = totalOf(counts);
  const text = `${where}: ${countsText(counts)}${part}`;
  return html`<${Link}
    to=${{ ...route, question: 'problems', cluster: row.clusterName, range: { since, until } }}
    class=${worstOf(counts)}
    title=${text}
    aria-label=${text}
    aria-current=${isChosen || undefined}
    data-row=${index}
    data-column=${column}
    >${total > 99 ? '+' : total}<//
  >`;
}
