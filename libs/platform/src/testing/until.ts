/** For what hangs; a busy machine does not reach it. Below the limits of vitest.config.ts. */
const limitMs = 180_000;
const intervalMs = 50;

type Falsy = false | undefined;

/**
 * Reads until the value is truthy, and returns it. For hooks and harnesses; tests use `expect.poll`, which works in tests only.
 *
 * @param details are added to the error, such as the log of a process
 * @throws Error after three minutes
 */
export async function until<Value>(
  what: string,
  read: () => Value | Falsy | Promise<Value | Falsy>,
  details: () => string = () => '',
): Promise<Value> {
  const deadline = performance.now() + limitMs;
  for (;;) {
    const value = await read();
    if (value) return value;
    if (performance.now() > deadline) throw new Error(`not within ${limitMs / 1_000} s: ${what}\n${details()}`);
    // biome-ignore lint/plugin: between two reads
    await new Promise((resolve) => setTimeout(resolve, intervalMs));
  }
}
