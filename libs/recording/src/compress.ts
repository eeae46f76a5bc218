import { zstdCompressSync, zstdDecompressSync } from 'node:zlib';

const options = (dictionary: Uint8Array | undefined) => (dictionary === undefined ? {} : { dictionary });

/** With a payload that differs little as the dictionary, it stores the difference. */
export const compress = (payload: Uint8Array, dictionary: Uint8Array | undefined): Uint8Array =>
  zstdCompressSync(payload, options(dictionary));

export const decompress = (payload: Uint8Array, dictionary: Uint8Array | undefined): Uint8Array =>
  zstdDecompressSync(payload, options(dictionary));
