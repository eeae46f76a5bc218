import { encodeMessage, type Message } from '@sluice/messages';
import { columnsOf, printable, wrap } from '@sluice/platform/process';
import colors from 'picocolors';
import type { OutageView, ServiceLogView } from '../view/schemas.ts';
import { outageText } from './times.ts';

/** Output format: width, colors, and the time to which times are relative. */
export interface TextFormat {
  /** In characters. */
  readonly width: number;
  readonly now: number;
  readonly colors: ReturnType<typeof colors.createColors>;
}

export function textFormatFor(
  stream: { readonly isTTY?: boolean; readonly columns?: number },
  now: number,
): TextFormat {
  return {
    width: columnsOf(stream),
    now,
    colors: colors.createColors(stream.isTTY === true && colors.isColorSupported),
  };
}

/** Below this width, text starts on the line after its first column. */
const minRoom = 30;
const narrowMargin = '    ';

/**
 * Text after a first column, wrapped with a hanging indent. Control characters are escaped, because names and messages come
 * from clusters. `paint` colors each line.
 */
export function wrapIndented(
  first: string,
  text: string,
  format: TextFormat,
  paint: (line: string) => string = (s) => s,
): string {
  const hangs = format.width - first.length >= minRoom;
  const margin = hangs ? ' '.repeat(first.length) : narrowMargin;
  const lines = wrap(printable(text), format.width - margin.length);
  const painted = lines.map((line, index) => `${hangs && index === 0 ? first : margin}${paint(line)}\n`);
  return `${hangs || first.trim() === '' ? '' : `${first.trimEnd()}\n`}${painted.join('')}`;
}

/** Causes as a list, with the number of those not listed. */
export function causesText({
  first,
  more,
}: {
  readonly first: readonly { description: string }[];
  readonly more: number;
}): string {
  return [...first.map(({ description }) => description), ...(more > 0 ? [`${more} more`] : [])].join(', ');
}

/** The trace id in a W3C trace context, and whether the trace is sampled. */
export function traceOf(
  traceparent: string | undefined,
): { readonly id: string; readonly recorded: boolean } | undefined {
  const [, id, flags] = /^[0-9a-f]{2}-([0-9a-f]{32})-[0-9a-f]{16}-([0-9a-f]{2})$/.exec(traceparent ?? '') ?? [];
  if (id === undefined || flags === undefined) return undefined;
  return { id, recorded: (Number.parseInt(flags, 16) & 1) === 1 };
}

export const stateIsOld = 'the state below is from that time';

/** That a server does not answer, since when and why, and what follows from it. */
export function outageLines(outage: OutageView | null, consequence: string, format: TextFormat): readonly string[] {
  if (outage === null) return [];
  return [wrapIndented('', `${outageText(outage, format.now)}; ${consequence}`, format, format.colors.red)];
}

const decoder = new TextDecoder();

/** The messages as they are on the bus, one per line. */
export function logLines({ messages }: ServiceLogView): string {
  return messages.map((message) => `${decoder.decode(encodeMessage(message as unknown as Message))}\n`).join('');
}
