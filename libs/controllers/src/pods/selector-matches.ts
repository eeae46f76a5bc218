import type { StringMap } from '@sluice/model';

/** Whether a Service's selector matches the labels. A null selector matches nothing, an empty one everything (C9). */
export function selectorMatches(selector: StringMap | null, labels: StringMap): boolean {
  return selector !== null && Object.entries(selector).every(([key, value]) => labels[key] === value);
}
