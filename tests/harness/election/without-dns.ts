import { fileURLToPath } from 'node:url';

/** Every name fails to resolve, as while DNS is unavailable. Addresses do not need to be resolved. */
const preload = `
import dns from 'node:dns';
import { isIP } from 'node:net';
import { syncBuiltinESMExports } from 'node:module';
const unavailable = () => Object.assign(new Error('DNS is unavailable'), { code: 'EAI_AGAIN', syscall: 'getaddrinfo' });
const { lookup } = dns;
const { lookup: lookupPromise } = dns.promises;
dns.lookup = (name, ...rest) =>
  isIP(name) !== 0 ? lookup(name, ...rest) : process.nextTick(rest.at(-1), unavailable());
dns.promises.lookup = async (name, ...rest) => {
  if (isIP(name) !== 0) return lookupPromise(name, ...rest);
  throw unavailable();
};
syncBuiltinESMExports();
`;

/** Arguments of Node that run the sources of Sluice in a process without DNS. */
export const withoutDns: readonly string[] = [
  ...['--disable-warning=ExperimentalWarning', '--import', `data:text/javascript,${encodeURIComponent(preload)}`],
  fileURLToPath(new URL('../../../services/sluice/src/main.ts', import.meta.url)),
];
