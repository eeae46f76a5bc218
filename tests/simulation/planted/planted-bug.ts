/** A small change of production code that is a bug. */
export interface PlantedBug {
  readonly name: string;
  /** Path from the root of the repository. */
  readonly file: string;
  /** Text that occurs exactly once in the file. */
  readonly search: string;
  readonly replace: string;
}
