import type { OutageView } from '../view/schemas.ts';
import { type TextFormat, wrapIndented } from './text.ts';
import { outageText } from './times.ts';

export const stateIsOld = 'the state below is from that time';

/** That a server does not answer, since when and why, and what follows from it. */
export function outageLines(outage: OutageView | null, consequence: string, format: TextFormat): readonly string[] {
  if (outage === null) return [];
  return [wrapIndented('', `${outageText(outage, format.now)}; ${consequence}`, format, format.colors.red)];
}
