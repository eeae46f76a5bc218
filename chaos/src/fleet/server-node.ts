import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { SmallDisk } from '@sluice/conformance';
import type { Target } from './target.ts';

/** Far more than a run needs, in memory only as far as it is used. */
const diskMegabytes = 4_096;

/** A server of the bus or the store, and the disk with its data if it can be filled. */
export interface ServerNode {
  readonly target: Target;
  readonly disk: SmallDisk | undefined;
  /** On that disk. */
  readonly log: string;
}

/** How one client reaches the servers of the bus or the store. */
export interface Access {
  /** The setting `bus` or `store` of the client. */
  readonly settings: object;
  /** The client's own links to the servers. */
  readonly links: readonly number[];
}

/** The servers of the bus or the store. */
export interface Servers<Node extends ServerNode = ServerNode> {
  readonly nodes: readonly Node[];
  /** By name of the client. */
  readonly access: ReadonlyMap<string, Access>;
  stop(): Promise<void>;
}

/** Chooses where a server keeps its data: on a disk of its own if there may be one. */
export function serverDirectory(parent: string, name: string, disks: boolean): { directory: string; disk?: SmallDisk } {
  if (disks) {
    const disk = new SmallDisk(diskMegabytes);
    return { directory: join(disk.directory, name), disk };
  }
  const directory = join(parent, name);
  mkdirSync(directory, { recursive: true });
  return { directory };
}

/** Makes room again after `fill`. */
export function emptyDisk(disk: SmallDisk): void {
  disk.grow(diskMegabytes);
}

export const nodeName = (kind: 'bus' | 'store', index: number, count: number): string =>
  count === 1 ? kind : `${kind}-${index + 1}`;
