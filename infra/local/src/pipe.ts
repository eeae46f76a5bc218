import type { Socket } from 'node:net';

/** Limit of what is held while a direction is blocked, as of a socket's buffers. */
const maxHeldBytes = 16 * 1024 * 1024;

/** Forwards what one socket receives to another, in order. */
export class Pipe {
  readonly #from: Socket;
  readonly #to: Socket;
  /** Undefined while it forwards. The end of the stream is `undefined`. */
  #held: (Buffer | undefined)[] | undefined;
  #heldBytes = 0;
  #ended = false;

  constructor(from: Socket, to: Socket, replacedPorts: ReadonlyMap<number, number> = new Map()) {
    this.#from = from;
    this.#to = to;
    from.on('data', (chunk: Buffer) => this.#add(replacePorts(chunk, replacedPorts)));
    from.on('end', () => this.#end());
    from.on('error', () => {});
    from.on('close', () => this.#end());
    to.on('drain', () => from.resume());
  }

  hold(): void {
    this.#held ??= [];
  }

  release(): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    this.#heldBytes = 0;
    for (const chunk of held) this.#forward(chunk);
    this.#from.resume();
  }

  #add(chunk: Buffer): void {
    if (this.#held === undefined) return this.#forward(chunk);
    this.#held.push(chunk);
    this.#heldBytes += chunk.length;
    if (this.#heldBytes > maxHeldBytes) this.#from.pause();
  }

  #end(): void {
    if (this.#ended) return;
    this.#ended = true;
    if (this.#held === undefined) this.#forward(undefined);
    else this.#held.push(undefined);
  }

  #forward(chunk: Buffer | undefined): void {
    if (chunk === undefined) {
      this.#to.end();
      // Nobody reads what the other side still sends.
      if (this.#from.destroyed) this.#to.destroySoon();
    } else if (this.#to.writable && !this.#to.write(chunk)) this.#from.pause();
  }
}

/** Ports as Redis and its sentinels write them: alone on a line. */
function replacePorts(chunk: Buffer, ports: ReadonlyMap<number, number>): Buffer {
  let text: string | undefined;
  for (const [port, other] of ports) {
    if (!chunk.includes(`\n${port}\r\n`)) continue;
    text = (text ?? chunk.toString('latin1')).replaceAll(`\n${port}\r\n`, `\n${other}\r\n`);
  }
  return text === undefined ? chunk : Buffer.from(text, 'latin1');
}
