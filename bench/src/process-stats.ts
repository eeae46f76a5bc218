import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';

/** Unit of the times in /proc; Linux fixes it for user space. */
const TICKS_PER_SECOND = 100;

/** The fields of /proc/<pid>/stat that are used. */
export interface ProcessStat {
  readonly pid: number;
  readonly parent: number;
  /** User and system time of all threads and of exited children, in seconds. */
  readonly cpuSeconds: number;
}

/** The name in parentheses may contain spaces and parentheses, so fields are counted from the last one. */
export function parseStat(line: string): ProcessStat {
  const fields = line.slice(line.lastIndexOf(')') + 2).split(' ');
  // Fields 14 to 17 of proc(5): utime, stime, cutime, cstime. The array starts at field 3.
  const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
  return { pid: Number.parseInt(line, 10), parent: Number(fields[1]), cpuSeconds: ticks / TICKS_PER_SECOND };
}

/** `root` and its descendants in `stats`. */
export function descendants(stats: readonly ProcessStat[], root: number): readonly ProcessStat[] {
  const wanted = new Set([root]);
  for (let before = 0; before < wanted.size; ) {
    before = wanted.size;
    for (const { pid, parent } of stats) if (wanted.has(parent)) wanted.add(pid);
  }
  return stats.filter(({ pid }) => wanted.has(pid));
}

/** CPU time of a process and its descendants, in seconds. Ticks are 10 ms. */
export function cpuSeconds(root: number): number {
  return descendants(readStats(), root).reduce((sum, stat) => sum + stat.cpuSeconds, 0);
}

/** CPU time of the whole machine since boot, in seconds. */
export function machineCpuSeconds(): number {
  return parseMachineCpu(readFileSync('/proc/stat', 'utf8'));
}

/** Busy time of all processors: without idle, iowait and steal, and without guest time, which user time includes. */
export function parseMachineCpu(text: string): number {
  const fields = (text.split('\n')[0] ?? '').trim().split(/\s+/).slice(1).map(Number);
  const [user = 0, nice = 0, system = 0, , , irq = 0, softIrq = 0] = fields;
  return (user + nice + system + irq + softIrq) / TICKS_PER_SECOND;
}

/**
 * Peak memory of a process and its descendants since `resetPeakMemory`, in MB (10⁶ bytes), without the program of the bench that
 * starts a fleet.
 */
export function peakMemoryMb(root: number): number {
  return descendants(readStats(), root).reduce((sum, { pid }) => sum + (isFleetProgram(pid) ? 0 : peakOf(pid)), 0);
}

function isFleetProgram(pid: number): boolean {
  try {
    return isFleetProgramLine(readFileSync(`/proc/${pid}/cmdline`, 'utf8'));
  } catch {
    return false;
  }
}

/** Whether the command line of a process, with zero bytes between its arguments, is that of fleet-program.ts. */
export function isFleetProgramLine(line: string): boolean {
  return line.split('\0').some((argument) => argument.endsWith('/bench/src/fleet-program.ts'));
}

/** Bytes that a process and its descendants have read and written; almost all of it is network traffic. */
export function bytesMoved(root: number): Traffic {
  const moved = descendants(readStats(), root).map(({ pid }) => trafficOf(pid));
  return {
    read: moved.reduce((sum, { read }) => sum + read, 0),
    written: moved.reduce((sum, { written }) => sum + written, 0),
  };
}

export interface Traffic {
  readonly read: number;
  readonly written: number;
}

/** Reads /proc/<pid>/io: bytes of all read and write calls, including sockets. */
export function parseIo(text: string): Traffic {
  const field = (name: string) => Number(new RegExp(`^${name}: (\\d+)$`, 'm').exec(text)?.[1] ?? 0);
  return { read: field('rchar'), written: field('wchar') };
}

function trafficOf(pid: number): Traffic {
  try {
    return parseIo(readFileSync(`/proc/${pid}/io`, 'utf8'));
  } catch {
    return { read: 0, written: 0 };
  }
}

/** Resident memory of a process, in MB (10⁶ bytes); 0 if it has exited. */
export function memoryMb(pid: number): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    return (Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1] ?? 0) * 1024) / 1e6;
  } catch {
    return 0;
  }
}

/** File descriptors that a process has open; 0 if it has exited. */
export function openFiles(pid: number): number {
  try {
    return readdirSync(`/proc/${pid}/fd`).length;
  } catch {
    return 0;
  }
}

/** Resets the peak to current use. Where the kernel refuses, the peak since the process start remains. */
export function resetPeakMemory(root: number): void {
  for (const { pid } of descendants(readStats(), root)) {
    try {
      writeFileSync(`/proc/${pid}/clear_refs`, '5');
    } catch {
      // The process has exited or belongs to another user.
    }
  }
}

/** @throws Error if there is no /proc */
export function requireProcessStats(): void {
  if (process.platform === 'linux') return;
  throw new Error(`the bench reads CPU time and memory from /proc, which ${process.platform} lacks: run it on Linux`);
}

export function machineDescription(): string {
  const memory = /MemTotal:\s+(\d+) kB/.exec(readFileSync('/proc/meminfo', 'utf8'))?.[1] ?? '0';
  return `${cpus().length} × ${cpus()[0]?.model.trim() ?? 'CPU'}, ${Math.round(Number(memory) / 1024 / 1024)} GB`;
}

function peakOf(pid: number): number {
  try {
    return parsePeak(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return 0;
  }
}

export function parsePeak(status: string): number {
  return (Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1] ?? 0) * 1024) / 1e6;
}

function readStats(): readonly ProcessStat[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        return [parseStat(readFileSync(`/proc/${pid}/stat`, 'utf8'))];
      } catch {
        return [];
      }
    });
}
