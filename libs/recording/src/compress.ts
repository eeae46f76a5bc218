import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib';

const options = (dictionary: Uint8Array | undefined) => (dictionary === undefined ? {} : { dictionary });

/** With a payload that differs little as the dictionary, it stores the difference. A checksum reveals damage. */
export const compress = (payload: Uint8Array, dictionary: Uint8Array | undefined): Uint8Array =>
  zstdCompressSync(payload, { ...options(dictionary), params: { [constants.ZSTD_c_checksumFlag]: 1 } });

/** More than a recorder keeps in memory. A damaged payload may claim any size. */
const maxOutputLength = 64 * 1024 ** 2;

/** @throws Error if the data is damaged or too large, or the dictionary is another one */
export const decompress = (payload: Uint8Array, dictionary: Uint8Array | undefined): Uint8Array =>
  zstdDecompressSync(payload, { ...options(dictionary), maxOutputLength });
