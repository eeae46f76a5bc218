import { type Cause, type Causes, mergeCauses, noCauses } from '@sluice/messages';
import type { TracedCause } from './change-traces.ts';

/**
 * What must be told about one Service: names only. The facts are read from the inventory when the Change is sent, so
 * that whatever happened while an earlier one was on its way is told once, as it is then.
 */
export interface Marks {
  /** Everything, bracketed; the rest is then implied. */
  snapshot: boolean;
  /** The snapshot is the first of this watcher. */
  start: boolean;
  service: boolean;
  topology: boolean;
  readonly pods: Set<string>;
  /** uid of the Endpoints object that changed or went. */
  endpoints: string | undefined;
  /** The Change is to say what all that was told comes down to. */
  digest: boolean;
  /** Each slice that changed or went, by name. */
  readonly slices: Map<string, SliceMark>;
  causes: Causes;
  traces: readonly TracedCause[];
}

export type Mark =
  | { readonly on: 'snapshot'; readonly start: boolean }
  /** Slices or Endpoints were listed again: what the watcher has never seen of them may have come and gone unseen. */
  | { readonly on: 'list' }
  /** What the reconciler knows is to be compared with what the watcher knows. */
  | { readonly on: 'digest' }
  | { readonly on: 'service' | 'topology' }
  | { readonly on: 'pod'; readonly name: string }
  | { readonly on: 'endpoints'; readonly uid: string }
  | ({ readonly on: 'slice'; readonly name: string } & SliceMark);

export interface SliceMark {
  readonly uid: string;
  /** It is not deleted but relabelled, and not this Service's any more. */
  readonly relabelled: boolean;
}

export function noMarks(): Marks {
  return {
    snapshot: false,
    start: false,
    service: false,
    topology: false,
    pods: new Set(),
    endpoints: undefined,
    digest: false,
    slices: new Map(),
    causes: noCauses,
    traces: [],
  };
}

export function addMark(marks: Marks, mark: Mark, cause: Cause | undefined): void {
  if (cause !== undefined) marks.causes = mergeCauses(marks.causes, { first: [cause], more: 0 });
  switch (mark.on) {
    case 'snapshot':
      marks.snapshot = true;
      marks.start ||= mark.start;
      break;
    case 'list':
      break;
    case 'digest':
      marks.digest = true;
      break;
    case 'service':
    case 'topology':
      marks[mark.on] = true;
      break;
    case 'pod':
      marks.pods.add(mark.name);
      break;
    case 'endpoints':
      marks.endpoints = mark.uid;
      break;
    case 'slice':
      marks.slices.set(mark.name, { uid: mark.uid, relabelled: mark.relabelled });
      break;
  }
}
