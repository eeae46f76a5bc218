import type { Node } from '../objects/node.ts';
import { controlPlaneLabels, zoneLabel } from '../objects/well-known.ts';
import {
  asFields,
  type Fields,
  fieldsAt,
  listAt,
  nameOf,
  projected,
  stringAt,
  stringMapAt,
  wrongType,
} from './fields.ts';
import { milliQuantity } from './quantity.ts';

/**
 * Projects a core/v1 Node.
 *
 * @throws MalformedObjectError
 */
export function projectNode(raw: unknown): Node {
  return projected('Node', raw, (object) => {
    const metadata = fieldsAt(object, 'metadata', 'metadata');
    const status = fieldsAt(object, 'status', 'status');
    const labels = stringMapAt(metadata, 'labels', 'metadata.labels');
    return {
      name: nameOf(metadata),
      zone: labels[zoneLabel] ?? '',
      ready: isReady(status),
      controlPlane: controlPlaneLabels.some((label) => Object.hasOwn(labels, label)),
      allocatableMilliCpu: allocatableMilliCpu(fieldsAt(status, 'allocatable', 'status.allocatable')),
    };
  });
}

/** As for Pods, the first condition of type Ready counts. */
function isReady(status: Fields): boolean {
  let ready: boolean | null = null;
  listAt(status, 'conditions', 'status.conditions', (item) => {
    const condition = asFields(item, '');
    if (ready === null && stringAt(condition, 'type', 'type') === 'Ready') {
      ready = stringAt(condition, 'status', 'status') === 'True';
    }
  });
  return ready === true;
}

/** A JSON quantity is a string or a number. */
function allocatableMilliCpu(allocatable: Fields): number {
  const cpu = allocatable.cpu;
  if (cpu === undefined || cpu === null) return 0;
  const milli = typeof cpu === 'string' || typeof cpu === 'number' ? milliQuantity(String(cpu)) : null;
  if (milli === null) throw wrongType('status.allocatable.cpu', 'a quantity');
  return milli;
}
