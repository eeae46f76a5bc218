import { type AddressInfo, createServer, type Socket } from 'node:net';

export interface ProtocolServer {
  readonly port: number;
  readonly connections: readonly Socket[];
  /** Accepts no more connections. */
  close(): void;
}

/** A server that speaks as much of the NATS protocol as a connection needs. */
export async function startProtocolServer(maxPayload = 1000): Promise<ProtocolServer> {
  const connections: Socket[] = [];
  const info = { server_id: 's', version: '2.14.0', proto: 1, headers: true, max_payload: maxPayload };
  const server = createServer((socket) => {
    connections.push(socket);
    socket.on('error', () => {});
    socket.write(`INFO ${JSON.stringify(info)}\r\n`);
    socket.on('data', (data) => {
      if (data.includes('PING')) socket.write('PONG\r\n');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { port: (server.address() as AddressInfo).port, connections, close: () => server.close() };
}
