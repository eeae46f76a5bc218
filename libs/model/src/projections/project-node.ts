import type { Node } from '../objects.ts';
import { controlPlaneLabels, zoneLabel } from '../well-known.ts';
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

/**
 * Parses a quantity (`500m`, `1.5`, `2Ki`, `1e3`) into milli-units, rounded away from zero (L6). Returns null if it is
 * invalid. Clamps at 2^53 milli-units.
 */
export function milliQuantity(text: string): number | null {
  const match = quantity.exec(text);
  if (match === null) return null;
  const [, sign, whole = '', fraction = '', suffix = ''] = match;
  if (whole === '' && fraction === '') return null;
  const scale = scaleOf(suffix);
  if (scale === null) return null;
  const magnitude = roundedUpMilli(BigInt(`0${whole}${fraction}`), fraction.length, scale);
  return sign === '-' ? -magnitude : magnitude;
}

const quantity = /^([+-]?)(\d*)(?:\.(\d*))?([A-Za-z]*|[eE][+-]?\d+)$/;

interface Scale {
  readonly factor: bigint;
  readonly tenPower: number;
}

const one = 1n;
const suffixes: Readonly<Record<string, Scale>> = {
  n: { factor: one, tenPower: -9 },
  u: { factor: one, tenPower: -6 },
  m: { factor: one, tenPower: -3 },
  '': { factor: one, tenPower: 0 },
  k: { factor: one, tenPower: 3 },
  M: { factor: one, tenPower: 6 },
  G: { factor: one, tenPower: 9 },
  T: { factor: one, tenPower: 12 },
  P: { factor: one, tenPower: 15 },
  E: { factor: one, tenPower: 18 },
  Ki: { factor: 1n << 10n, tenPower: 0 },
  Mi: { factor: 1n << 20n, tenPower: 0 },
  Gi: { factor: 1n << 30n, tenPower: 0 },
  Ti: { factor: 1n << 40n, tenPower: 0 },
  Pi: { factor: 1n << 50n, tenPower: 0 },
  Ei: { factor: 1n << 60n, tenPower: 0 },
};

function scaleOf(suffix: string): Scale | null {
  if (Object.hasOwn(suffixes, suffix)) return suffixes[suffix] ?? null;
  if (!/^[eE][+-]?\d{1,3}$/.test(suffix)) return null;
  return { factor: one, tenPower: Number(suffix.slice(1)) };
}

function roundedUpMilli(digits: bigint, decimals: number, scale: Scale): number {
  const power = scale.tenPower - decimals + 3;
  const scaled = digits * scale.factor;
  if (power >= 0) return bounded(scaled * 10n ** BigInt(power));
  const divisor = 10n ** BigInt(-power);
  return bounded((scaled + divisor - 1n) / divisor);
}

function bounded(amount: bigint): number {
  return amount > BigInt(Number.MAX_SAFE_INTEGER) ? Number.MAX_SAFE_INTEGER : Number(amount);
}
