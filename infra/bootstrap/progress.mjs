/** A wait shorter than this shows no progress. */
const quietMs = 2_000;
/** Interval of the lines in a file or pipe, where each stays. */
const lineMs = 15_000;

/**
 * Shows how long something takes until the returned function is called: on a terminal a timer that is erased at the end,
 * elsewhere a line every 15 s without escape codes.
 */
export function showProgress(stream, what) {
  const started = Date.now();
  const seconds = () => `${Math.round((Date.now() - started) / 1000)} s`;
  let shown = false;
  const tick = () => {
    if (!stream.isTTY) return void stream.write(`${what}, ${seconds()}\n`);
    if (Date.now() - started < quietMs) return;
    shown = true;
    stream.write(`\r${what}, ${seconds()} `);
  };
  const timer = setInterval(tick, stream.isTTY ? 1000 : lineMs);
  return () => {
    clearInterval(timer);
    if (shown) stream.write('\r\x1b[K');
  };
}
