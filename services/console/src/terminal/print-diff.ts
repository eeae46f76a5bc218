import { printable, withLocalTimes } from '@sluice/platform/process';
import { signs } from '../../page/entry-text.ts';
import type { ServiceDifference } from './diff-service.ts';
import { type TextFormat, wrapIndented } from './text.ts';

/** One line for each difference. */
export function printDiff(heading: string, differences: readonly ServiceDifference[], format: TextFormat): string {
  const lines = differences.map((difference) => {
    const text = withLocalTimes(textOf(difference), format.now);
    return wrapIndented(`${signs[difference.type]} `, text, format, painterOf(difference.type, format));
  });
  return [`${printable(heading)}\n`, ...(lines.length === 0 ? ['Nothing differs.\n'] : lines)].join('');
}

function textOf({ type, what, before, after }: ServiceDifference): string {
  if (type === 'added') return `${what}: ${after}`;
  return type === 'removed' ? `${what}: was ${before}` : `${what}: ${before} → ${after}`;
}

function painterOf(type: ServiceDifference['type'], { colors }: TextFormat): (line: string) => string {
  return { added: colors.green, removed: colors.red, changed: colors.yellow }[type];
}
