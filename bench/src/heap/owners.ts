import type { HeapSnapshot } from './heap-snapshot.ts';

export interface Owner {
  readonly name: string;
  readonly bytes: number;
  readonly objects: number;
}

export interface HeapSummary {
  readonly bytes: number;
  /** Largest first. The sum is that of the heap: each object has one owner. */
  readonly owners: readonly Owner[];
  /** The same by the field of the owner through which it refers to the object; largest first. */
  readonly fields: readonly Owner[];
  /** The same by the class or type of the objects; largest first. */
  readonly contents: readonly Owner[];
}

/** Classes of JavaScript itself: they hold what some owner put into them. */
const containers = new Set(
  [
    'Object Array Map Set WeakMap WeakSet WeakRef Function Promise PromiseReaction Generator AsyncGenerator Module',
    'Date RegExp Error AbortSignal AbortController ArrayBuffer SharedArrayBuffer DataView FastBuffer',
    'Int8Array Uint8Array Uint16Array Int32Array Uint32Array BigInt64Array BigUint64Array Float64Array',
  ].flatMap((names) => names.split(' ')),
);

/** Where a plain object lies says more about it than that it is compiled code or the shape of objects. */
const ownTypes = new Set(['code', 'object shape', 'synthetic', 'native']);

/**
 * Attributes each object to the nearest instance of a class that refers to it, directly or through plain objects. An object that
 * several refer to counts for one of the nearest. `packageOf` names where a class is defined.
 */
export function summarizeHeap(snapshot: HeapSnapshot, packageOf: (name: string) => string | undefined): HeapSummary {
  const { nodes, types, typeNames, names, sizes, firstEdges, targets, fields, strings } = snapshot;
  const objectType = typeNames.indexOf('object');
  const labels: string[] = [];
  const labelIds = new Map<string, number>();
  const idOf = (label: string) => {
    const id = labelIds.get(label) ?? labels.push(label) - 1;
    labelIds.set(label, id);
    return id;
  };
  const unowned = idOf('(no class)');
  const owners = new Int32Array(nodes).fill(-1);
  /** Index into `strings`; 0 for the owner itself. */
  const through = new Int32Array(nodes);
  let frontier: number[] = [];
  for (let node = 0; node < nodes; node++) {
    const name = strings[names[node] ?? 0] ?? '';
    const type = typeNames[types[node] ?? 0] ?? '';
    if (types[node] === objectType && isOwner(name)) {
      owners[node] = idOf([packageOf(name), name].filter(Boolean).join(' '));
      frontier.push(node);
    } else if (ownTypes.has(type)) owners[node] = idOf(`(${type})`);
  }
  for (let isFirst = true; frontier.length > 0; isFirst = false) {
    const next: number[] = [];
    for (const node of frontier) {
      for (let edge = firstEdges[node] ?? 0; edge < (firstEdges[node + 1] ?? 0); edge++) {
        const target = targets[edge] ?? -1;
        if (target < 0 || owners[target] !== -1) continue;
        owners[target] = owners[node] ?? unowned;
        through[target] = isFirst ? (fields[edge] ?? 0) : (through[node] ?? 0);
        next.push(target);
      }
    }
    frontier = next;
  }
  const byOwner = new Sums();
  const byField = new Sums();
  const byContent = new Sums();
  for (let node = 0; node < nodes; node++) {
    const owner = labels[owners[node] === -1 ? unowned : (owners[node] ?? unowned)] ?? '';
    const type = typeNames[types[node] ?? 0] ?? '';
    const size = sizes[node] ?? 0;
    byOwner.add(owner, size);
    const field = strings[through[node] ?? 0] ?? '';
    byField.add(field === '' ? owner : `${owner} . ${field}`, size);
    byContent.add(`${owner} › ${type === 'object' ? (strings[names[node] ?? 0] ?? '') : `(${type})`}`, size);
  }
  return {
    bytes: byOwner.total,
    owners: byOwner.largestFirst(),
    fields: byField.largestFirst(),
    contents: byContent.largestFirst(),
  };
}

function isOwner(name: string): boolean {
  return /^[A-Z][A-Za-z0-9_$]*$/.test(name) && !containers.has(name);
}

class Sums {
  readonly #sums = new Map<string, { bytes: number; objects: number }>();
  total = 0;

  add(name: string, bytes: number): void {
    const sum = this.#sums.get(name) ?? { bytes: 0, objects: 0 };
    sum.bytes += bytes;
    sum.objects++;
    this.total += bytes;
    this.#sums.set(name, sum);
  }

  largestFirst(): readonly Owner[] {
    return [...this.#sums].map(([name, sum]) => ({ name, ...sum })).sort((a, b) => b.bytes - a.bytes);
  }
}
