import { ClusterSet, type ConnectedCluster, guardWrites } from '@sluice/fleet/clusters';
import {
  type ClusterAccess,
  type ClusterReader,
  type ClusterWriter,
  type Connection,
  chainWriter,
  checkRequests,
} from '@sluice/kubernetes';
import { asRecord, asString, type Clock, type Logger, type Random, randomInteger, sleep } from '@sluice/platform';
import { requestChecks } from '@sluice/writer';
import type { SimulatedProcess } from '../../doubles/simulated-process.ts';
import { FaultyConnection, type LinkFaults, noLinkFaults } from '../faulty-connection.ts';
import { type Address, readIdentity } from './address.ts';
import type { ClaimModel } from './claim-model.ts';
import { type ClaimingFleet, clusterName, serverUrl } from './claiming-fleet.ts';

export interface ClaimingProcessOptions {
  readonly name: string;
  readonly fleet: ClaimingFleet;
  /** It is the whole fleet, and releases its claim when it stops. */
  readonly releases: boolean;
  readonly process: SimulatedProcess;
  readonly address: Address;
  readonly model: ClaimModel;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
}

/** Between two writes of a process, in milliseconds. */
const betweenWritesMs = { least: 50, most: 800 };

/** A process that serves one cluster, and writes to it as long as it may. */
export class ClaimingProcess {
  readonly name: string;
  readonly process: SimulatedProcess;
  readonly fleet: ClaimingFleet;
  readonly faults: LinkFaults = { ...noLinkFaults };
  readonly ended: Promise<void>;
  readonly #options: ClaimingProcessOptions;
  readonly #stop = new AbortController();
  /** Whether its configuration lists the cluster. */
  isConfigured = true;
  /** Whether it sends writes. */
  isWriting = () => false;

  constructor(options: ClaimingProcessOptions) {
    this.#options = options;
    const { name, process, fleet, releases, random, logger } = options;
    this.name = name;
    this.process = process;
    this.fleet = fleet;
    const { clock } = process;
    const candidate = {
      ...{ name: clusterName, from: 'a file', fingerprint: '' },
      load: async () => ({}) as unknown as ClusterAccess,
    };
    const id = { name: fleet.name, id: () => fleet.id(`id-${name}`), releases };
    this.ended = new ClusterSet({
      sources: [
        { about: 'a file', read: async () => ({ candidates: this.isConfigured ? [candidate] : [], problems: [] }) },
      ],
      open: (_, signal) => this.#open(signal),
      guard: (cluster, signal) => guardWrites(cluster, { work: ['write'], fleet: id, clock, logger }, signal),
      serve: (cluster, signal) => this.#serve(cluster, signal),
      identities: fleet.identities,
      ...{ clock, random, logger },
    }).run(this.#stop.signal);
  }

  stop(): void {
    this.#stop.abort();
  }

  async #open(signal: AbortSignal): Promise<ConnectedCluster> {
    const { fleet, process, address, model, clock, random, name } = this.#options;
    const ports = { own: process.clock, clock, random, faults: this.faults };
    const connection = new FaultyConnection({
      ...{ ...ports, onSent: () => {} },
      server: () => address.connect(''),
    });
    const identityOf = async (signal: AbortSignal) => {
      const { body } = await connection.request(readIdentity(signal));
      return asString(asRecord(asRecord(body).metadata).uid);
    };
    let identity = '';
    const writes = new FaultyConnection({
      ...ports,
      server: () => {
        const connection = address.connect(name);
        return {
          ...connection,
          handle: (request) => {
            const answer = connection.handle(request);
            model.arrived(fleet, name, identity, address.server);
            return answer;
          },
        };
      },
      onSent: () => model.sent(fleet, name, address.server),
    });
    const close = async () => {
      await Promise.all([connection.destroy(), writes.destroy()]);
    };
    try {
      identity = await identityOf(signal);
    } catch (error) {
      await close();
      throw error;
    }
    const reader: Partial<ClusterReader> = { identity: identityOf };
    const writer: Partial<ClusterWriter> = {
      delete: async (resource, namespace, object, _, signal, beforeSend) => {
        const path = `/api/v1/namespaces/${namespace}/${resource}/${object}`;
        await writes.request({ method: 'DELETE', path, signal, beforeSend });
      },
    };
    return {
      ...{ name: clusterName, identity, server: serverUrl, version: '', authorities: [], record: () => {}, close },
      ...{ reader: reader as ClusterReader, writer: writer as ClusterWriter },
      connection: connection as unknown as Connection,
    };
  }

  async #serve({ writer, checks = {}, writesPausedBecause }: ConnectedCluster, signal: AbortSignal): Promise<void> {
    const { process, random } = this.#options;
    this.isWriting = () => writesPausedBecause?.() === undefined;
    const checked = chainWriter(writer, checkRequests(requestChecks(checks)));
    while (!signal.aborted) {
      await sleep(process.clock, randomInteger(random, betweenWritesMs.least, betweenWritesMs.most), signal);
      if (!signal.aborted) checked.delete('endpoints', 'shop', 'web', {}, signal).catch(() => {});
    }
    this.isWriting = () => false;
  }
}
