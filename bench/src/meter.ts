import type { ControlPlane, ServerProcess } from '@sluice/local';
import type { ApiClient } from './api-client.ts';
import { readWriteCounts, type WriteCounts, writesBetween } from './api-metrics.ts';
import {
  bytesMoved,
  cpuSeconds,
  machineCpuSeconds,
  peakMemoryMb,
  resetPeakMemory,
  type Traffic,
} from './process-stats.ts';

/** CPU time in seconds. `others` is the rest of the machine, i.e. noise. */
export interface CpuSeconds {
  readonly controller: number;
  readonly apiServer: number;
  readonly etcd: number;
  readonly bench: number;
  readonly others: number;
}

/** Cost of a time span. */
export interface Cost {
  readonly seconds: number;
  readonly writes: WriteCounts;
  readonly cpuSeconds: CpuSeconds;
  /** Peak memory of the controller, in MB. */
  readonly peakMemoryMb: number;
  /** Bytes the controller read and wrote, including files, e.g. at its start. */
  readonly traffic?: Traffic;
}

/** Measures one time span: `start`, then `stop`. */
export class Meter {
  readonly #client: ApiClient;
  readonly #controlPlane: ControlPlane;
  readonly #controller: () => ServerProcess | undefined;
  #writes: WriteCounts = {};
  #cpu: CpuSeconds = { controller: 0, apiServer: 0, etcd: 0, bench: 0, others: 0 };
  #traffic: Traffic = { read: 0, written: 0 };
  #startedAt = 0;

  /** `controller` is evaluated again at the end: before a cold start it does not exist. */
  constructor(client: ApiClient, controlPlane: ControlPlane, controller: () => ServerProcess | undefined) {
    this.#client = client;
    this.#controlPlane = controlPlane;
    this.#controller = controller;
  }

  async start(): Promise<void> {
    this.#writes = await readWriteCounts(this.#client);
    const pid = this.#controller()?.pid;
    if (pid !== undefined) resetPeakMemory(pid);
    if (pid !== undefined) this.#traffic = bytesMoved(pid);
    this.#cpu = this.#readCpu();
    this.#startedAt = performance.now();
  }

  async stop(): Promise<Cost> {
    const seconds = (performance.now() - this.#startedAt) / 1000;
    const pid = this.#controller()?.pid;
    const peak = pid === undefined ? Number.NaN : peakMemoryMb(pid);
    const cpu = difference(this.#readCpu(), this.#cpu);
    const moved = pid === undefined ? { read: 0, written: 0 } : bytesMoved(pid);
    const { read, written } = this.#traffic;
    const traffic = { read: moved.read - read, written: moved.written - written };
    const writes = writesBetween(this.#writes, await readWriteCounts(this.#client));
    return { seconds, writes, cpuSeconds: cpu, peakMemoryMb: peak, traffic };
  }

  #readCpu(): CpuSeconds {
    const { etcd, kubeApiserver } = this.#controlPlane.processes;
    const of = (server: ServerProcess | undefined) => (server?.pid === undefined ? 0 : cpuSeconds(server.pid));
    const own = process.cpuUsage();
    const known = {
      controller: of(this.#controller()),
      apiServer: of(kubeApiserver),
      etcd: of(etcd),
      bench: (own.user + own.system) / 1e6,
    };
    const sum = known.controller + known.apiServer + known.etcd + known.bench;
    return { ...known, others: machineCpuSeconds() - sum };
  }
}

function difference(after: CpuSeconds, before: CpuSeconds): CpuSeconds {
  return {
    controller: after.controller - before.controller,
    apiServer: after.apiServer - before.apiServer,
    etcd: after.etcd - before.etcd,
    bench: after.bench - before.bench,
    // Ticks are coarse: on an idle machine the difference may be slightly negative.
    others: Math.max(0, after.others - before.others),
  };
}
