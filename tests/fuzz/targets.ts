import { isApiError, type RawObject, type Resource } from '@sluice/kubernetes';
import { type Decoder, decodeJsonWatch, decodeList, decodeProtobufWatch } from '@sluice/kubernetes/testing';
import { decodeMessage, encodeMessage, isMessageError } from '@sluice/messages';
import { projectEndpointSlice, projectEndpoints, projectNode, projectPod, projectService } from '@sluice/model';
import { exceededLimit, objectLimits, type Random, randomInteger } from '@sluice/platform';
import { busRecordInputs, jsonWatchInputs, listInputs, manyContainers, protobufWatchInputs } from './corpus.ts';

/** A decoder of outside input. `run` throws only if the decoder breaks, not if it rejects the input. */
export interface FuzzTarget {
  readonly name: string;
  readonly corpus: readonly Buffer[];
  /** Inputs that are run once and are too large to derive others from. */
  readonly large?: readonly Buffer[];
  readonly run: (input: Buffer, random: Random) => Promise<void> | void;
}

export const fuzzTargets: readonly FuzzTarget[] = [
  {
    name: 'protobuf watch',
    corpus: protobufWatchInputs,
    large: [manyContainers],
    run: clusterInput(decodeProtobufWatch),
  },
  { name: 'JSON watch', corpus: jsonWatchInputs, run: clusterInput(decodeJsonWatch) },
  { name: 'list', corpus: listInputs, run: clusterInput(decodeList) },
  { name: 'bus record', corpus: busRecordInputs, run: busRecord },
];

const projections: { readonly [R in Resource]: (raw: RawObject) => unknown } = {
  services: projectService,
  pods: projectPod,
  nodes: projectNode,
  endpoints: projectEndpoints,
  endpointslices: projectEndpointSlice,
};
const resources = Object.keys(projections) as readonly Resource[];

function clusterInput(decode: Decoder): FuzzTarget['run'] {
  return async (input, random) => {
    const resource = resources[randomInteger(random, 0, resources.length - 1)] ?? 'pods';
    try {
      await decode(resource, split(input, random), (object) => keep(resource, object));
    } catch (error) {
      const isRejection = isApiError(error) || (error instanceof Error && error.name === 'MalformedListError');
      if (!isRejection) throw error;
    }
  };
}

/** What the watcher does with an object: whatever it keeps can be encoded. */
function keep(resource: Resource, raw: RawObject): void {
  let object: unknown;
  try {
    object = projections[resource](raw);
  } catch {
    return;
  }
  if (exceededLimit(object, objectLimits) === undefined) JSON.stringify(object);
  if (Object.getPrototypeOf(raw) !== Object.prototype) throw new Error('the object has another prototype');
}

function busRecord(input: Buffer): void {
  try {
    const message = decodeMessage(input);
    decodeMessage(encodeMessage(message));
  } catch (error) {
    if (!isMessageError(error)) throw error;
  }
}

/** The input in chunks of random sizes, as a network delivers it. */
async function* split(input: Buffer, random: Random): AsyncGenerator<Buffer> {
  for (let at = 0; at < input.length; ) {
    const end = random.next() < 0.5 ? input.length : at + randomInteger(random, 1, 4096);
    yield input.subarray(at, end);
    at = end;
  }
}
