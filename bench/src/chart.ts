import type { Outline, OutlineColumn } from './overview.ts';

const COLORS = ['#0b7285', '#5c940d', '#e8590c', '#9c36b5'];
const [LABELS, WIDTH, BAR, GAP, HEAD] = [310, 480, 9, 12, 44];

/** Bar chart with a logarithmic scale and a group per phase: latencies range from 2 ms to 20 s. */
export function barChart(
  title: string,
  all: readonly Outline[],
  column: OutlineColumn,
  controllers: readonly string[],
): string {
  const groups = all.filter(({ figures }) => [...figures.values()].some((one) => figureOf(one[column]) > 0));
  const values = groups
    .flatMap(({ figures }) => [...figures.values()].map((one) => figureOf(one[column])))
    .filter((v) => v > 0);
  const least = 10 ** Math.floor(Math.log10(Math.min(...values)));
  const most = 10 ** Math.ceil(Math.log10(Math.max(...values)));
  const x = (value: number) => LABELS + (Math.log10(value / least) / Math.log10(most / least)) * WIDTH;
  const groupHeight = controllers.length * BAR + GAP;
  const height = HEAD + groups.length * groupHeight + 24;
  const text = (at: number, y: number, words: string, more = '') =>
    `<text x="${at.toFixed(0)}" y="${y.toFixed(0)}" ${more}>${words.replaceAll('&', '&amp;').replaceAll('<', '&lt;')}</text>`;
  const lines: string[] = [];
  for (let tick = least; tick <= most; tick *= 10) {
    lines.push(
      `<line x1="${x(tick).toFixed(0)}" x2="${x(tick).toFixed(0)}" y1="${HEAD}" y2="${height - 22}" stroke="#ced4da"/>`,
    );
    lines.push(text(x(tick), height - 8, tick.toLocaleString('en'), 'text-anchor="middle"'));
  }
  const legend = controllers.map((name, i) =>
    text(LABELS + i * 110, 34, name, `fill="${COLORS[i]}" font-weight="bold"`),
  );
  const bars = groups.flatMap(({ workload, phase, figures }, group) => {
    const top = HEAD + group * groupHeight + GAP / 2;
    const own = controllers.flatMap((name, i) => {
      const value = figureOf(figures.get(name)?.[column]);
      if (!(value > 0)) return [];
      const width = Math.max(1, x(value) - LABELS).toFixed(0);
      return `<rect x="${LABELS}" y="${top + i * BAR}" width="${width}" height="${BAR - 1}" fill="${COLORS[i]}"/>`;
    });
    return [text(LABELS - 8, top + groupHeight / 2 - 2, `${workload}, ${phase}`, 'text-anchor="end"'), ...own];
  });
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${LABELS + WIDTH + 40} ${height}" font-family="sans-serif" font-size="11" fill="#343a40">`;
  const paper = '<rect width="100%" height="100%" fill="#fff"/>';
  return `${[svg, paper, text(12, 18, title, 'font-size="14" font-weight="bold"'), ...legend, ...lines, ...bars].join('\n')}\n</svg>\n`;
}

const figureOf = (figure: { readonly value: number } | undefined): number => figure?.value ?? Number.NaN;
