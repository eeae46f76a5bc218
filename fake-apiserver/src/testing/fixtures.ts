import { seededRandom, VirtualClock } from '@sluice/platform';
import { FakeApiServer, type FakeApiServerOptions } from '../server/server.ts';
import { isStatusError, type Status } from '../server/status.ts';

/** A server and its virtual clock. */
export function newServer(options: Partial<FakeApiServerOptions> = {}) {
  const clock = new VirtualClock(Date.parse('2026-05-01T10:00:00Z'));
  const server = new FakeApiServer({ clock, random: seededRandom(1), ...options });
  return { clock, server };
}

/** The Status of the StatusError that `act` throws. */
export function refusal(act: () => unknown): Status {
  try {
    act();
  } catch (error) {
    if (isStatusError(error)) return error.status;
    throw error;
  }
  throw new Error('expected the request to be rejected');
}

export function slice(name: string, more: Record<string, unknown> = {}) {
  const { metadata, ...body } = more;
  return {
    metadata: { name, namespace: 'default', ...(metadata as object | undefined) },
    addressType: 'IPv4',
    endpoints: [{ addresses: ['10.1.0.1'] }],
    ports: [{ name: 'http', protocol: 'TCP', port: 80 }],
    ...body,
  };
}

export function service(name: string, spec: Record<string, unknown> = {}) {
  return {
    metadata: { name, namespace: 'default' },
    spec: { selector: { app: name }, ports: [{ port: 80 }], ...spec },
  };
}
