/** Encodes a header and a payload as one Redis value: header length (UInt32BE), header as JSON, payload. */
export function encodeFrame(header: unknown, payload: Uint8Array): Buffer {
  const head = Buffer.from(JSON.stringify(header));
  const length = Buffer.alloc(4);
  length.writeUInt32BE(head.length);
  return Buffer.concat([length, head, payload]);
}

/** The header is not validated: only this package writes these values. */
export function decodeFrame<T>(frame: Buffer): { readonly header: T; readonly payload: Uint8Array } {
  const start = 4 + frame.readUInt32BE(0);
  const header = JSON.parse(frame.toString('utf8', 4, start)) as T;
  // A copy, so that the payload does not retain the buffer of the whole answer.
  return { header, payload: new Uint8Array(frame.subarray(start)) };
}
