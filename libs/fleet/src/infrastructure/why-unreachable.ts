import { connect } from 'node:net';
import { connectionProblem } from '@sluice/platform';

const defaultPorts: Readonly<Record<string, number>> = {
  redis: 6379,
  rediss: 6379,
  nats: 4222,
  tls: 4222,
  kafka: 9092,
};

/** A server that accepts no connection in this time is silent, in milliseconds. */
const timeoutMs = 1_000;

/**
 * Why none of the servers accepts a connection, in a few words: `connection refused`. Undefined if one accepts it or is
 * silent: then it does not answer for another reason. `addresses`: URLs, or hosts with ports of Kafka.
 */
export async function whyUnreachable(addresses: readonly string[]): Promise<string | undefined> {
  const problems = await Promise.all(addresses.map(problemOf));
  return problems.includes(undefined) ? undefined : problems[0];
}

function problemOf(address: string): Promise<string | undefined> {
  const { protocol, hostname, port } = new URL(address.includes('://') ? address : `kafka://${address}`);
  const host = hostname.replace(/^\[(.*)\]$/, '$1');
  return new Promise((resolve) => {
    const socket = connect({ host, port: Number(port) || (defaultPorts[protocol.slice(0, -1)] ?? 0) });
    const end = (problem: string | undefined) => {
      socket.destroy();
      resolve(problem);
    };
    socket.setTimeout(timeoutMs, () => end(undefined));
    socket.once('connect', () => end(undefined));
    socket.once('error', (error: NodeJS.ErrnoException) => end(connectionProblem(error.code ?? '') ?? error.message));
  });
}
