import { type MessagePort, parentPort } from 'node:worker_threads';
import { type Direction, TcpProxy } from '@sluice/local';

export type NetworkRequest =
  | { readonly kind: 'link'; readonly port: number; readonly reply: MessagePort }
  | { readonly kind: 'replacePorts'; readonly links: readonly number[]; readonly ports: ReadonlyMap<number, number> }
  | { readonly kind: 'block' | 'unblock'; readonly links: readonly number[]; readonly direction: Direction };

export interface NetworkReply {
  readonly port: number;
}

const proxies = new Map<number, TcpProxy>();

async function link(port: number, reply: MessagePort): Promise<void> {
  const proxy = await TcpProxy.listen(port);
  proxies.set(proxy.port, proxy);
  const answer: NetworkReply = { port: proxy.port };
  reply.postMessage(answer);
}

parentPort?.on('message', (request: NetworkRequest) => {
  if (request.kind === 'link') return void link(request.port, request.reply);
  for (const port of request.links) {
    const proxy = proxies.get(port);
    if (request.kind === 'replacePorts') proxy?.replacePorts(request.ports);
    else proxy?.[request.kind](request.direction);
  }
});
