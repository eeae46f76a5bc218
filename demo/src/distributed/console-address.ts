import { createServer } from 'node:net';
import { freePorts } from '@sluice/local';
import { defaultBindAddress, formatBindAddress } from '@sluice/platform/process';

/** The default address of the console, or another port if it is taken. */
export async function freeAddress(): Promise<string> {
  const probe = createServer();
  const isFree = await new Promise<boolean>((resolve) => {
    probe.once('error', () => resolve(false));
    probe.listen(defaultBindAddress.port, defaultBindAddress.host, () => probe.close(() => resolve(true)));
  });
  const [port = 0] = isFree ? [defaultBindAddress.port] : await freePorts(1);
  return formatBindAddress({ ...defaultBindAddress, port });
}

/** Line to print at startup. Commands find the console without an argument only at the default address. */
export function consoleLine(address: string): string {
  const url = `http://${address}`;
  const hint = address === formatBindAddress(defaultBindAddress) ? '' : ` (commands need --console ${url})`;
  return `Console: ${url}${hint}`;
}
