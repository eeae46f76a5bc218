/** The used fields of a .cpuprofile, V8's format. Times are in microseconds. */
export interface CpuProfile {
  readonly nodes: readonly ProfileNode[];
  readonly startTime: number;
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
}

export interface ProfileNode {
  readonly id: number;
  readonly callFrame: { readonly functionName: string; readonly url: string; readonly lineNumber: number };
  readonly children?: readonly number[];
}

export interface Share {
  readonly name: string;
  readonly milliseconds: number;
}

export interface ProfileSummary {
  /** Total of the evaluated samples. */
  readonly milliseconds: number;
  readonly idleMilliseconds: number;
  /** Self time, largest first. */
  readonly selfByPackage: readonly Share[];
  readonly selfByFunction: readonly Share[];
  /** Total time, each function counted once per sample; these overlap. */
  readonly totalByFunction: readonly Share[];
}

/** Seconds since the start of the profile. */
export interface Window {
  readonly from: number;
  readonly to: number;
}

const IDLE = '(idle)';

/** Sums up CPU time. Idle time counts only in `idleMilliseconds`. */
export function summarizeProfile(profile: CpuProfile, window: Window): ProfileSummary {
  const frames = new Map(profile.nodes.map((node) => [node.id, node]));
  const parents = new Map(profile.nodes.flatMap((node) => (node.children ?? []).map((child) => [child, node.id])));
  const selfOfNode = new Map<number, number>();
  let time = 0;
  for (const [index, node] of profile.samples.entries()) {
    const delta = Math.max(0, profile.timeDeltas[index] ?? 0);
    time += delta;
    if (time < window.from * 1e6 || time > window.to * 1e6) continue;
    selfOfNode.set(node, (selfOfNode.get(node) ?? 0) + delta);
  }
  const byPackage = new Map<string, number>();
  const byFunction = new Map<string, number>();
  const total = new Map<string, number>();
  let milliseconds = 0;
  let idleMilliseconds = 0;
  for (const [id, microseconds] of selfOfNode) {
    const node = frames.get(id);
    if (node === undefined) continue;
    const self = microseconds / 1000;
    milliseconds += self;
    if (node.callFrame.functionName === IDLE) {
      idleMilliseconds += self;
      continue;
    }
    add(byPackage, packageOf(node), self);
    add(byFunction, functionOf(node), self);
    const onStack = new Set<string>();
    for (let at: number | undefined = id; at !== undefined; at = parents.get(at)) {
      const frame = frames.get(at);
      if (frame !== undefined) onStack.add(functionOf(frame));
    }
    for (const name of onStack) add(total, name, self);
  }
  total.delete('(root)');
  return {
    milliseconds,
    idleMilliseconds,
    selfByPackage: mostFirst(byPackage),
    selfByFunction: mostFirst(byFunction),
    totalByFunction: mostFirst(total),
  };
}

/** `libs/bus`, `services/writer`, `undici`, `node:http`, or V8's own name, e.g. `(garbage collector)`. */
export function packageOf({ callFrame: { url, functionName } }: ProfileNode): string {
  if (url === '') return functionName.startsWith('(') ? functionName : '(native)';
  if (url.startsWith('node:')) return url.split('/').slice(0, 2).join('/');
  const installed = /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url)?.[1];
  return installed ?? /\/((?:libs|services|infra)\/[^/]+)\//.exec(url)?.[1] ?? url;
}

function functionOf(node: ProfileNode): string {
  const { functionName, url, lineNumber } = node.callFrame;
  if (url === '') return functionName || '(native)';
  const file = url.slice(url.lastIndexOf('/') + 1);
  return `${functionName || '(anonymous)'} ${packageOf(node)} ${file}:${lineNumber + 1}`;
}

function add(sums: Map<string, number>, name: string, value: number): void {
  sums.set(name, (sums.get(name) ?? 0) + value);
}

function mostFirst(sums: ReadonlyMap<string, number>): readonly Share[] {
  return [...sums]
    .map(([name, milliseconds]) => ({ name, milliseconds }))
    .sort((a, b) => b.milliseconds - a.milliseconds);
}
