import type { Bus } from '../../index.ts';
import { openJetStreamBus } from '../jetstream-bus.ts';
import { NatsLink } from '../link.ts';
import { type JetStreamBusOptions, type JetStreamBusPorts, settings } from '../options.ts';
import { memoryConnection } from './memory-connection.ts';
import type { MemoryNats } from './memory-nats.ts';

export interface MemoryJetStreamOptions extends Omit<JetStreamBusOptions, 'servers'> {
  readonly nats: MemoryNats;
  /** Largest message that the server accepts, in bytes. Default 1 MiB. */
  readonly maxPayload?: number;
}

/** The production adapter on a server in this process. */
export async function memoryJetStreamBus(
  { nats, maxPayload = 1024 * 1024, ...options }: MemoryJetStreamOptions,
  ports: JetStreamBusPorts,
): Promise<Bus> {
  const connection = memoryConnection(nats, ports.clock, maxPayload);
  const link = new NatsLink(connection, ports.logger);
  return openJetStreamBus(link, settings({ ...options, servers: ['memory'] }), ports);
}
