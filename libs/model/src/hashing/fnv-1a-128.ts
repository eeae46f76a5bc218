/**
 * FNV-1a with 128 bits over the UTF-8 encoding of the text, as 32 hex digits, big-endian (L1).
 *
 * The state is eight 16-bit limbs, `a` the lowest. The prime is 2^88 + 315, so a multiplication is one by 315, limb by
 * limb, plus the state shifted left by five limbs and eight bits. All values stay small integers.
 */
export function fnv1a128(text: string): string {
  let [h, g, f, e, d, c, b, a]: Limbs = offsetBasis;
  const bytes = isAscii(text) ? null : new TextEncoder().encode(text);
  const length = bytes === null ? text.length : bytes.length;
  for (let i = 0; i < length; i++) {
    a ^= bytes === null ? text.charCodeAt(i) : (bytes[i] ?? 0);
    const toF = (a << 8) & 0xffff;
    const toG = (a >>> 8) | ((b << 8) & 0xffff);
    const toH = (b >>> 8) | ((c << 8) & 0xffff);
    a *= 315;
    b = b * 315 + (a >>> 16);
    c = c * 315 + (b >>> 16);
    d = d * 315 + (c >>> 16);
    e = e * 315 + (d >>> 16);
    f = f * 315 + (e >>> 16) + toF;
    g = g * 315 + (f >>> 16) + toG;
    h = h * 315 + (g >>> 16) + toH;
    a &= 0xffff;
    b &= 0xffff;
    c &= 0xffff;
    d &= 0xffff;
    e &= 0xffff;
    f &= 0xffff;
    g &= 0xffff;
    h &= 0xffff;
  }
  return hex16(h) + hex16(g) + hex16(f) + hex16(e) + hex16(d) + hex16(c) + hex16(b) + hex16(a);
}

type Limbs = readonly [number, number, number, number, number, number, number, number];

const offsetBasis: Limbs = [0x6c62, 0x272e, 0x07bb, 0x0142, 0x62b8, 0x2175, 0x6295, 0xc58d];

function isAscii(text: string): boolean {
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) > 127) return false;
  return true;
}

function hex16(limb: number): string {
  return limb.toString(16).padStart(4, '0');
}

/**
 * Returns a memoised hash function for recurring texts such as those of ports. The memo is cleared when it reaches
 * `limit` entries.
 */
export function memoisedFnv1a128(limit: number): (text: string) => string {
  const known = new Map<string, string>();
  return (text) => {
    const remembered = known.get(text);
    if (remembered !== undefined) return remembered;
    if (known.size >= limit) known.clear();
    const hash = fnv1a128(text);
    known.set(text, hash);
    return hash;
  };
}
