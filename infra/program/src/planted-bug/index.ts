/** A small change of production code that is a bug. */
export interface PlantedBug {
  readonly name: string;
  /** Path from the root of the repository. */
  readonly file: string;
  /** Text that occurs exactly once in the file. */
  readonly search: string;
  readonly replace: string;
}

/**
 * The source with the bug.
 *
 * @throws Error if the source has changed and the bug no longer fits
 */
export function plant({ name, file, search, replace }: PlantedBug, source: string): string {
  const occurrences = source.split(search).length - 1;
  if (occurrences !== 1) {
    throw new Error(
      `planted bug "${name}": its text occurs ${occurrences} times in ${file}, not once; correct the bug`,
    );
  }
  return source.replace(search, () => replace);
}

const root = new URL('../../../../', import.meta.url);

/** The URL of the file that a bug is planted in. */
export const urlOf = ({ file }: PlantedBug): string => new URL(file, root).href;

/** The environment variable with the bug, as JSON. */
export const variable = 'SLUICE_PLANTED_BUG';

/** Arguments and environment of a Node process that has the bug. */
export const planted = (bug: PlantedBug) => ({
  execArgv: ['--import', new URL('./plant-hook.ts', import.meta.url).href],
  environment: { [variable]: JSON.stringify(bug) },
});
