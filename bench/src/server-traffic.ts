import type { RedisServer } from '@sluice/local';

/** What the clients of nats-server have sent and received so far, from its monitoring port. */
export async function natsTraffic(port: number): Promise<Readonly<Record<string, number>>> {
  const response = await fetch(`http://127.0.0.1:${port}/varz`);
  const { in_msgs, out_msgs, in_bytes, out_bytes } = (await response.json()) as Readonly<Record<string, number>>;
  return {
    'NATS messages in': in_msgs ?? 0,
    'NATS messages out': out_msgs ?? 0,
    'NATS kB in': (in_bytes ?? 0) / 1_000,
    'NATS kB out': (out_bytes ?? 0) / 1_000,
  };
}

/** What the clients of Redis have sent and received so far, from INFO. */
export async function redisTraffic(server: RedisServer): Promise<Readonly<Record<string, number>>> {
  const client = server.connect();
  const text = await client.info('everything').finally(() => client.disconnect());
  const field = (name: string) => Number(new RegExp(`^${name}:(\\d+)`, 'm').exec(text)?.[1] ?? 0);
  const calls = (command: string) => Number(new RegExp(`^cmdstat_${command}:calls=(\\d+)`, 'm').exec(text)?.[1] ?? 0);
  return {
    'Redis scripts': calls('evalsha') + calls('eval'),
    'Redis kB in': field('total_net_input_bytes') / 1_000,
    'Redis kB out': field('total_net_output_bytes') / 1_000,
  };
}
