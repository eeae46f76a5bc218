import fc from 'fast-check';

/** Repeats a failure of fast-check, which prints its seed: `SEED=-5 npx vitest run --project unit FILE`. */
fc.configureGlobal({ seed: Number(process.env.SEED) });
