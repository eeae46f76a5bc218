import { type TextFormat, textFormatFor } from '../terminal/text.ts';

const mark = (color: string) => (text: unknown) => `<${color}:${text}>`;

/** A format that marks what a terminal shows in color: `<red:text>`. */
export function markedFormat(now: number): TextFormat {
  const format = textFormatFor({}, now);
  const colors = {
    ...format.colors,
    ...{ bold: mark('bold'), dim: mark('dim'), red: mark('red'), green: mark('green'), yellow: mark('yellow') },
  };
  return { ...format, colors };
}
