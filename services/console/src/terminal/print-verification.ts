import { formatDuration, localTime } from '@sluice/platform/process';
import type { PropagationView } from '../view/schemas.ts';
import { type TextFormat, wrapIndented } from './text.ts';

/** What is known of the slices and Endpoints of a Service at one time. */
export interface Verification {
  /** Pods that a place does not show as it should. */
  readonly wrong: readonly PropagationView[];
  /** The last changes that a place showed before. */
  readonly latest: readonly PropagationView[];
}

/** Since when slices and Endpoints show the Pods as they should, or which Pods they do not. */
export function printVerification(heading: string, { wrong, latest }: Verification, format: TextFormat): string {
  return [
    wrapIndented('', heading, format, format.colors.bold),
    ...(['slices', 'Endpoints'] as const).flatMap((place) => {
      const differing = wrong.filter((one) => one.place === place);
      if (differing.length > 0) return wrongLines(place, differing, format);
      return [
        wrapIndented(
          '',
          rightText(
            place,
            latest.find((one) => one.place === place),
            format,
          ),
          format,
        ),
      ];
    }),
  ].join('');
}

function rightText(place: PropagationView['place'], last: PropagationView | undefined, { now }: TextFormat): string {
  const text = `${place}: as they should be`;
  if (last?.endedAt === undefined || last.endedAt === null) return `${text}, as far as recorded`;
  const took = last.isStartKnown ? `, ${formatDuration(last.endedAt - last.startedAt)} after: ${last.event}` : '';
  return `${text} since ${localTime(last.endedAt, now)}${took}`;
}

function wrongLines(place: PropagationView['place'], wrong: readonly PropagationView[], format: TextFormat): string[] {
  const since = Math.min(...wrong.map(({ startedAt }) => startedAt));
  const isKnown = wrong.every(({ isStartKnown }) => isStartKnown);
  const text = `${place}: wrong since ${isKnown ? '' : 'before '}${localTime(since, format.now)}`;
  return [
    wrapIndented('', text, format, format.colors.red),
    ...wrong.map(({ pod, from, to, event }) => {
      return wrapIndented('  ', `${pod} is shown as ${from} and should be ${to}: ${event}`, format);
    }),
  ];
}
