import type { ObjectMeta } from '../objects/metadata.ts';

/**
 * Generation last written per slice of one Service, keyed by UID (C19). Plain data, because it is stored. All functions
 * are pure: they return the next state.
 */
export type TrackedSlices = Readonly<Record<string, number>>;

/** The part of a slice that the tracker needs. */
export interface TrackedSlice {
  readonly metadata: Pick<ObjectMeta, 'uid' | 'generation'>;
}

/** Marks a slice whose deletion was requested, in place of a generation. */
const deletionExpected = -1;

/** Initial state of a Service. */
export const noTrackedSlices: TrackedSlices = {};

export function isEmpty(tracked: TrackedSlices): boolean {
  return Object.keys(tracked).length === 0;
}

export function has(tracked: TrackedSlices, slice: TrackedSlice): boolean {
  return tracked[uidOf(slice)] !== undefined;
}

/** Whether an observed slice requires a sync: it is untracked, or newer than what was written. */
export function shouldSync(tracked: TrackedSlices, slice: TrackedSlice): boolean {
  const generation = tracked[uidOf(slice)];
  return generation === undefined || generationOf(slice) > generation;
}

/** Whether the listed slices of the Service are older than what was written (C20). */
export function staleSlices(tracked: TrackedSlices, listed: Iterable<TrackedSlice>): boolean {
  if (isEmpty(tracked)) return false;
  const present = new Set<string>();
  for (const slice of listed) {
    const uid = uidOf(slice);
    present.add(uid);
    const generation = tracked[uid];
    if (generation === deletionExpected) return true;
    if (generation !== undefined && generation > generationOf(slice)) return true;
  }
  for (const [uid, generation] of Object.entries(tracked)) {
    if (generation !== deletionExpected && !present.has(uid)) return true;
  }
  return false;
}

export function update(tracked: TrackedSlices, slice: TrackedSlice): TrackedSlices {
  return withGeneration(tracked, uidOf(slice), generationOf(slice));
}

export function expectDeletion(tracked: TrackedSlices, slice: TrackedSlice): TrackedSlices {
  return withGeneration(tracked, uidOf(slice), deletionExpected);
}

/** Returns `expected: false` if the slice was tracked and its deletion was not requested. */
export function handleDeletion(
  tracked: TrackedSlices,
  slice: TrackedSlice,
): { readonly state: TrackedSlices; readonly expected: boolean } {
  const uid = uidOf(slice);
  const generation = tracked[uid];
  if (generation === undefined) return { state: tracked, expected: true };
  const { [uid]: _gone, ...state } = tracked;
  return { state, expected: generation === deletionExpected };
}

/** Drops the state of the Service. */
export function deleteService(): TrackedSlices {
  return noTrackedSlices;
}

function withGeneration(tracked: TrackedSlices, uid: string, generation: number): TrackedSlices {
  return tracked[uid] === generation ? tracked : { ...tracked, [uid]: generation };
}

function uidOf(slice: TrackedSlice): string {
  return slice.metadata.uid ?? '';
}

function generationOf(slice: TrackedSlice): number {
  return slice.metadata.generation ?? 0;
}
