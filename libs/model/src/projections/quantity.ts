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
