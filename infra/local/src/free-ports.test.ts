import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { freePorts } from './free-ports.ts';

const file = join(import.meta.dirname, 'free-ports.ts');

test('a port is given once', async () => {
  const ports = [...(await freePorts(50)), ...(await freePorts(50))];
  expect(new Set(ports).size).toBe(100);
});

test.runIf(process.platform === 'linux')('a port of this process is given to no other', async () => {
  const ours = await freePorts(20);
  // The other process starts at the same port.
  const program = `Math.random = () => ${((ours[0] ?? 0) - 12_000) / 20_000};
    const { freePorts } = await import(${JSON.stringify(file)});
    console.log((await freePorts(20)).join());`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program]);
  const theirs = stdout.trim().split(',').map(Number);
  expect(theirs).toHaveLength(20);
  expect(theirs.filter((port) => ours.includes(port))).toEqual([]);
});

test.runIf(process.platform === 'linux')('ports are outside the range from which the system chooses', async () => {
  const [lowest = 0] = readFileSync('/proc/sys/net/ipv4/ip_local_port_range', 'utf8').split('\t').map(Number);
  expect(Math.max(...(await freePorts(5)))).toBeLessThan(lowest);
});
