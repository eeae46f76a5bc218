import type { Console, ConsoleOptions } from './create-console.ts';

/** Loads the console's modules, including the web server, and creates a console. */
export async function createConsole(options: ConsoleOptions): Promise<Console> {
  return (await import('./create-console.ts')).createConsole(options);
}

/** A console that is created on the first request, so that it costs a process neither startup time nor memory before. */
export function lazyConsole(options: ConsoleOptions): Console {
  const { history, logger } = options;
  const stopExpiry = history.expirePeriodically();
  let created: Promise<Console> | undefined;
  let isClosed = false;
  const create = () => {
    // The created console expires the history itself.
    stopExpiry();
    created = createConsole(options);
    return created;
  };
  return {
    handle(request, response) {
      const fail = (status: number, text: string) =>
        response.writeHead(status, { 'Content-Type': 'text/plain; charset=utf-8' }).end(`${text}\n`);
      if (isClosed) {
        fail(503, 'the console is closing');
        return;
      }
      (created ?? create()).then(
        (console) => console.handle(request, response),
        (error: unknown) => {
          logger.error('cannot load the console', { error });
          fail(500, 'cannot load the console; see the log of this process');
        },
      );
    },
    async close() {
      isClosed = true;
      stopExpiry();
      const console = await created?.catch(() => undefined);
      await console?.close();
    },
  };
}
