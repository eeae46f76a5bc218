import type { ObjectMeta } from '@sluice/model';

/**
 * Generation last written per slice of one Service, keyed by UID (C19). Plain data, because it is stored. All functions
 * are pure: they return the next state.
 */
export type TrackedSlices = Readonly<Record<string, number>>;

/** The part of a slice that the tracker needs. */
interface TrackedSlice {
  readonly metadata: Pick<ObjectMeta, 'uid' | 'generation' | 'deletionTimestamp'>;
}

/** Marks a slice whose deletion was requested, in place of a generation. */
const deletionExpected = -1;
/** Marks a slice whose last write may or may not have been stored, in place of a generation. */
const writeUncertain = -2;

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

/** A write of the slice failed, but may have been stored: its generation proves nothing until the next one. */
export function expectUncertain(tracked: TrackedSlices, uid: string): TrackedSlices {
  return uid === '' || tracked[uid] === deletionExpected ? tracked : withGeneration(tracked, uid, writeUncertain);
}

/** A slice is missing in a list. A write that may still be stored remains uncertain, in case the list was old. */
export function handleMissing(tracked: TrackedSlices, uid: string): TrackedSlices {
  if (tracked[uid] === undefined || tracked[uid] === writeUncertain) return tracked;
  const { [uid]: _gone, ...state } = tracked;
  return state;
}

/** Forgets uncertain writes of slices that are not `present`: a later write was stored, so nothing can follow any more. */
export function endUncertainty(tracked: TrackedSlices, present: () => ReadonlySet<string>): TrackedSlices {
  if (!Object.values(tracked).includes(writeUncertain)) return tracked;
  const known = present();
  const isOver = (uid: string, generation: number) => generation === writeUncertain && !known.has(uid);
  return Object.fromEntries(Object.entries(tracked).filter(([uid, generation]) => !isOver(uid, generation)));
}

/** A newer version of a tracked slice was observed and judged. */
export function observe(tracked: TrackedSlices, slice: TrackedSlice): TrackedSlices {
  if (tracked[uidOf(slice)] === deletionExpected || generationOf(slice) <= 0) return tracked;
  return update(tracked, slice);
}

/** What a newer version of a slice proves. The API server raises the generation with each change of its content. */
type GenerationProof = 'foreignWrite' | 'restored' | undefined;

/**
 * Compares a version of a slice that is newer than the last write with its generation. A higher generation proves a write by
 * another client; a lower one proves that the cluster was restored from a backup.
 */
export function proofOf(tracked: TrackedSlices, slice: TrackedSlice): GenerationProof {
  const written = tracked[uidOf(slice)] ?? 0;
  const observed = generationOf(slice);
  // A graceful deletion raises the generation, too.
  if (written <= 0 || observed <= 0 || slice.metadata.deletionTimestamp !== undefined) return undefined;
  if (observed === written) return undefined;
  return observed > written ? 'foreignWrite' : 'restored';
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
