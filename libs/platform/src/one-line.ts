/** Joins lines and columns by single spaces. Takes linear time, whatever the text. */
export function oneLine(text: string): string {
  const lines = text.split(/[\n\r\t\u2028\u2029]/);
  const last = lines.length - 1;
  return lines
    .map((line, i) => {
      const started = i > 0 ? line.trimStart() : line;
      return i < last ? started.trimEnd() : started;
    })
    .filter((line, i) => line !== '' || i === 0 || i === last)
    .join(' ');
}
