/** Port of randomness, so that a seed reproduces a run. */
export interface Random {
  /** Uniform in [0, 1). */
  next(): number;
}

/** SplitMix32: a small, fast generator that is reproducible from its seed. Not for secrets. */
export function seededRandom(seed: number): Random {
  let state = seed | 0;
  return {
    next() {
      state = (state + 0x9e3779b9) | 0;
      let z = state ^ (state >>> 16);
      z = Math.imul(z, 0x21f0aaad);
      z ^= z >>> 15;
      z = Math.imul(z, 0x735a2d97);
      return ((z ^ (z >>> 15)) >>> 0) / 4294967296;
    },
  };
}

/** A uniformly distributed integer in [from, to]. */
export function randomInteger(random: Random, from: number, to: number): number {
  return from + Math.floor(random.next() * (to - from + 1));
}
