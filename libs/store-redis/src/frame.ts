/** Bytes with a description before them, as one value of Redis: the length of the description, JSON, the bytes. */
export function encodeFrame(description: unknown, payload: Uint8Array): Buffer {
  const head = Buffer.from(JSON.stringify(description));
  const length = Buffer.alloc(4);
  length.writeUInt32BE(head.length);
  return Buffer.concat([length, head, payload]);
}

/** The description is what was encoded: only this package writes these values. */
export function decodeFrame<T>(frame: Buffer): { readonly description: T; readonly payload: Uint8Array } {
  const start = 4 + frame.readUInt32BE(0);
  const description = JSON.parse(frame.toString('utf8', 4, start)) as T;
  // A copy: it does not keep the answer alive that it was part of.
  return { description, payload: new Uint8Array(frame.subarray(start)) };
}
