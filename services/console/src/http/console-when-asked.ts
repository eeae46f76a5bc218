import type { Console, ConsoleOptions } from './create-console.ts';

/** Loads the console, which is a web server and more, and makes one. */
export async function createConsole(options: ConsoleOptions): Promise<Console> {
  return (await import('./create-console.ts')).createConsole(options);
}

/** What the history of nobody's console is relieved of, this often. */
const expiryMs = 60_000;

/**
 * A console that is loaded and made when it is asked for something: where it is only a guest in a process, a start should
 * not wait for it, and one that nobody looks at should cost nothing.
 */
export function consoleWhenAsked(options: ConsoleOptions): Console {
  const { history, clock, logger } = options;
  let made: Promise<Console> | undefined;
  const expire = () => {
    history.expire();
    cancel = clock.schedule(expiryMs, expire);
  };
  let cancel = clock.schedule(expiryMs, expire);
  let closed = false;
  const make = () => {
    // From here on it does so itself.
    cancel();
    made = createConsole(options);
    return made;
  };
  return {
    handle(request, response) {
      if (closed) {
        response.writeHead(503, { 'Content-Type': 'text/plain; charset=utf-8' }).end('the console is closing\n');
        return;
      }
      (made ?? make()).then(
        (console) => console.handle(request, response),
        (error: unknown) => {
          logger.error('cannot load the console', { error });
          response
            .writeHead(500, { 'Content-Type': 'text/plain; charset=utf-8' })
            .end('the console cannot be opened\n');
        },
      );
    },
    async close() {
      closed = true;
      cancel();
      const console = await made?.catch(() => undefined);
      await console?.close();
    },
  };
}
