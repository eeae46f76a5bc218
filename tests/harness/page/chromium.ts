import { access } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { type Browser, chromium } from 'playwright-core';

const names = ['chromium', 'chromium-browser', 'google-chrome'];

/** Starts the installed Chromium. @throws Error that says what to install */
export async function startChromium(path = process.env.PATH ?? ''): Promise<Browser> {
  const executablePath = await find(path);
  // The sandbox does not work for root in a container. The browser shows only the page of this repository.
  return chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'] });
}

async function find(path: string): Promise<string> {
  for (const directory of path.split(delimiter)) {
    for (const name of names) {
      const file = join(directory, name);
      if (
        await access(file).then(
          () => true,
          () => false,
        )
      )
        return file;
    }
  }
  throw new Error(
    `no browser: none of ${names.join(', ')} is in the PATH. On Debian: apt-get install --no-install-recommends chromium`,
  );
}
