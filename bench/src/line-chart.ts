/** One line of a chart. */
export interface Series {
  readonly name: string;
  /** x and y, both above zero, in ascending order of x. */
  readonly points: readonly (readonly [x: number, y: number])[];
}

const colors = ['#0b7285', '#5c940d', '#e8590c', '#9c36b5'];
const [left, top, width, height] = [60, 56, 460, 240];

/** Lines over logarithmic axes. A value that grows in proportion to x rises like the dotted lines; one that stays is level. */
export function lineChart(title: string, xLabel: string, series: readonly Series[]): string {
  const points = series.flatMap((each) => each.points);
  const xs = decades(points.map(([x]) => x));
  const ys = decades(points.map(([, y]) => y));
  const x = (value: number) => left + position(value, xs) * width;
  const y = (value: number) => top + height - position(value, ys) * height;
  const text = (atX: number, atY: number, words: string, more = '') =>
    `<text x="${atX.toFixed(0)}" y="${atY.toFixed(0)}" ${more}>${words.replaceAll('&', '&amp;').replaceAll('<', '&lt;')}</text>`;
  const line = (x1: number, y1: number, x2: number, y2: number, more: string) =>
    `<line x1="${x1.toFixed(0)}" y1="${y1.toFixed(0)}" x2="${x2.toFixed(0)}" y2="${y2.toFixed(0)}" ${more}/>`;
  const grid = [
    ...powers(xs).flatMap((tick) => [
      line(x(tick), top, x(tick), top + height, 'stroke="#dee2e6"'),
      text(x(tick), top + height + 16, tick.toLocaleString('en'), 'text-anchor="middle"'),
    ]),
    ...powers(ys).flatMap((tick) => [
      line(left, y(tick), left + width, y(tick), 'stroke="#dee2e6"'),
      text(left - 6, y(tick) + 4, tick.toLocaleString('en'), 'text-anchor="end"'),
      line(left, y(tick), ...proportional(tick, xs, ys, x, y), 'stroke="#adb5bd" stroke-dasharray="2 5"'),
    ]),
  ];
  const lines = series.flatMap(({ name, points: own }, index) => {
    const color = colors[index % colors.length];
    const path = own.map(([px, py]) => `${x(px).toFixed(1)},${y(py).toFixed(1)}`).join(' ');
    return [
      `<polyline points="${path}" fill="none" stroke="${color}" stroke-width="2"/>`,
      ...own.map(([px, py]) => `<circle cx="${x(px).toFixed(1)}" cy="${y(py).toFixed(1)}" r="3" fill="${color}"/>`),
      text(left + index * 115, 40, name, `fill="${color}" font-weight="bold"`),
    ];
  });
  const size = [left + width + 24, top + height + 40];
  return `${[
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${size.join(' ')}" font-family="sans-serif" font-size="11" fill="#343a40">`,
    '<rect width="100%" height="100%" fill="#fff"/>',
    text(12, 18, title, 'font-size="14" font-weight="bold"'),
    ...grid,
    ...lines,
    text(left + width / 2, top + height + 34, xLabel, 'text-anchor="middle"'),
  ].join('\n')}\n</svg>\n`;
}

type Range = readonly [least: number, most: number];

/** The powers of ten around these values. */
function decades(values: readonly number[]): Range {
  const least = Math.floor(Math.log10(Math.min(...values)));
  return [10 ** least, 10 ** Math.max(least + 1, Math.ceil(Math.log10(Math.max(...values))))];
}

function powers([least, most]: Range): number[] {
  const all: number[] = [];
  for (let power = Math.log10(least); power <= Math.log10(most) + 0.5; power += 1) all.push(10 ** Math.round(power));
  return all;
}

const position = (value: number, [least, most]: Range): number => Math.log10(value / least) / Math.log10(most / least);

/** Where a line that starts at `from` on the left edge and grows in proportion leaves the chart. */
function proportional(
  from: number,
  xs: Range,
  ys: Range,
  x: (value: number) => number,
  y: (value: number) => number,
): [number, number] {
  const factor = Math.min(xs[1] / xs[0], ys[1] / from);
  return [x(xs[0] * factor), y(from * factor)];
}
