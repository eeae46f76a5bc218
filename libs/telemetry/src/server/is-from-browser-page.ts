import type { IncomingHttpHeaders } from 'node:http';
import { type BindAddress, hostOfHeader, isLoopback } from '@sluice/platform/process';

/**
 * Whether a web page of another origin may have made the request: browsers say so in `Sec-Fetch-Site`, and a server on
 * loopback is never asked for by another name, except by a page that rebinds its own name to it (DNS rebinding). A server on
 * other interfaces is known by names that it cannot list, such as that of its Service.
 */
export function isFromBrowserPage(headers: IncomingHttpHeaders, { host: boundTo }: Pick<BindAddress, 'host'>): boolean {
  const site = headers['sec-fetch-site'];
  const isForeign = site === 'cross-site' || site === 'same-site';
  if (isForeign && headers['sec-fetch-mode'] !== 'navigate') return true;
  return isLoopback(boundTo) && !isLoopback(hostOfHeader(headers.host));
}
