import { execFile } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  ensureBinaries,
  ensureKafkaJars,
  ensureNatsServer,
  ensurePrometheus,
  freePorts,
  KAFKA_VERSION,
  ServerProcess,
} from './src/index.ts';
import { type ComposeService, certificatesDirectory, hostPorts, readCompose } from './testing/compose-file.ts';

/** Checks docker-compose.yml without Docker: the programs accept their flags, environment and configuration files. */

const root = fileURLToPath(new URL('../../', import.meta.url));
const { text, ...compose } = readCompose(root);
const services = Object.entries(compose.services);
const run = promisify(execFile);
const roles = ['worker', 'console', 'watcher-kafka', 'reconciler-kafka', 'writer-kafka', 'console-kafka'];
const directory = mkdtempSync(join(tmpdir(), 'sluice-compose-'));
const made = join(directory, 'certificates');

beforeAll(async () => {
  const script = join(root, 'infra/images/make-certificates.sh');
  await run('mkdir', [made]);
  await run('sh', [script, made, ...hostPorts]);
});

afterAll(() => rmSync(directory, { recursive: true, force: true }));

const service = (name: string): ComposeService => compose.services[name] ?? {};
/** The directory of the certificates that the service mounts. */
const certificatesOf = (name: string): string => {
  const volume = certificatesDirectory(service(name));
  if (volume === undefined) throw new Error(`${name} mounts no certificates`);
  return join(made, volume);
};
/** Maps the path of the service's certificates to the local directory. */
const here = (name: string) => (value: string) => value.replaceAll('/certificates', certificatesOf(name));
/** A copy of a configuration file of the service with local paths and other replacements. */
function localCopy(name: string, file: string, replacements: Readonly<Record<string, string>>): string {
  let content = here(name)(readFileSync(join(certificatesOf(name), file), 'utf8'));
  for (const [from, to] of Object.entries(replacements)) content = content.replaceAll(from, to);
  const copy = join(directory, file);
  writeFileSync(copy, content);
  return copy;
}

it('has the fleet and its dependencies', () => {
  const fleet = ['worker', 'watcher-kafka', 'reconciler-kafka', 'writer-kafka'];
  expect(fleet.map((name) => service(name).deploy?.replicas)).toEqual([2, 2, 3, 2]);
  const others = ['etcd', 'nats', 'kafka', 'redis', 'console', 'workload', 'jaeger', 'prometheus', 'grafana'];
  expect(Object.keys(compose.services)).toEqual(expect.arrayContaining(others));
});

it('runs workers with the profile nats, the default, and separate roles with kafka', () => {
  expect(readFileSync(join(root, '.env'), 'utf8')).toContain('\nCOMPOSE_PROFILES=nats\n');
  const ofProfile = (profile: string) =>
    services.filter(([, { profiles }]) => profiles?.includes(profile)).map(([name]) => name);
  const roles = ['watcher', 'reconciler', 'writer', 'console'];
  expect(ofProfile('nats')).toEqual(['nats', 'worker', 'console']);
  expect(ofProfile('kafka')).toEqual(['kafka', ...roles.map((role) => `${role}-kafka`)]);
  for (const role of roles) {
    expect(service(`${role}-kafka`)).toMatchObject({ networks: { default: { aliases: [role] } } });
  }
  for (const key of ['command', 'ports'] as const)
    expect(service('console-kafka')[key]).toEqual(service('console')[key]);
});

it('refers only to existing services, volumes and files', () => {
  for (const [, { depends_on = {}, volumes = [] }] of services) {
    for (const name of Object.keys(depends_on)) expect(Object.keys(compose.services)).toContain(name);
    for (const [source = ''] of volumes.map((volume) => volume.split(':'))) {
      if (source.startsWith('.')) expect([source, existsSync(join(root, source))]).toEqual([source, true]);
      else expect(Object.keys(compose.volumes)).toContain(source);
    }
  }
});

it('publishes ports on loopback only, pins every image and contains no secret', () => {
  for (const port of services.flatMap(([, { ports = [] }]) => ports)) expect(port).toMatch(/^127\.0\.0\.1:/);
  for (const [name, { image }] of services)
    expect([name, image]).toEqual([name, expect.stringMatching(/:(v?\d|local$)/)]);
  for (const [, { environment = {} }] of services) {
    const secrets = Object.keys(environment).filter((key) => /PASSWORD|TOKEN|SECRET|SEED|CREDS/.test(key));
    for (const name of secrets) expect(name).toMatch(/_FILE$/);
  }
  expect(text).not.toMatch(/-----BEGIN|:\/\/[^/\s]+:[^/\s]+@/);
});

it('shows each container its own secrets only', () => {
  const mounted = services.flatMap(([name, { volumes = [] }]) =>
    volumes.map((volume) => [name, volume.split(':')] as const),
  );
  const withAll = mounted.filter(([, [source]]) => source === 'certificates').map(([name]) => name);
  expect(withAll, 'ca.key and the kubeconfigs of all').toEqual(['certificates']);
  for (const role of ['worker', 'watcher', 'reconciler', 'writer', 'console']) {
    const name = compose.services[role] === undefined ? `${role}-kafka` : role;
    const files = readdirSync(certificatesOf(name)).sort();
    const common = ['bus-password', 'ca.crt', 'store-password'];
    const own = {
      worker: ['kubeconfig'],
      watcher: ['kubeconfig'],
      reconciler: [],
      writer: ['kubeconfig'],
      console: ['tls.crt', 'tls.key', 'token'],
    };
    expect([role, files]).toEqual([role, [...common, ...own[role as keyof typeof own]].sort()]);
    expect(mounted.filter(([each]) => each === name).map(([, [, target, mode]]) => [target, mode])).toEqual([
      ['/certificates', 'ro'],
    ]);
  }
});

it('gives each role a user of its own at bus and store, over TLS', () => {
  for (const name of roles) {
    const role = name.replace('-kafka', '');
    expect(service(name).environment).toMatchObject({
      SLUICE_BUS_USERNAME: `sluice-${role}`,
      SLUICE_STORE_USERNAME: `sluice-${role}`,
      SLUICE_BUS_SERVERS: name === role ? 'tls://nats:4222' : 'kafka://kafka:9092',
      SLUICE_BUS_TLS_CA_FILE: '/certificates/ca.crt',
      SLUICE_STORE_URL: 'rediss://redis:6379',
    });
  }
});

describe.each([...roles, 'sluice'])('%s', (name) => {
  const { command = [], environment = {}, read_only, cap_drop, security_opt } = service(name);

  it('accepts its flags and environment', async () => {
    const [role = '', ...flags] = command.map(here(name));
    const env = Object.fromEntries(Object.entries(environment).map(([key, value]) => [key, here(name)(value)]));
    const main = join(root, 'services/sluice/src/main.ts');
    // `run` has no configuration to print, so look for its flags in the help.
    if (role === 'run') {
      const { stdout } = await run(process.execPath, [main, role, '--help']);
      for (const flag of flags.filter((each) => each.startsWith('--'))) expect(stdout).toContain(flag);
      return;
    }
    expect((await run(process.execPath, [main, role, '--help'])).stdout).toContain('Usage');
    const { stdout, stderr } = await run(process.execPath, [main, 'config', ...flags], { env });
    expect(stderr).toBe('');
    expect(stdout).toContain('rediss://redis:6379');
    for (const secret of ['bus-password', 'store-password']) {
      expect(stdout).not.toContain(readFileSync(join(certificatesOf(name), secret), 'utf8').trim());
    }
  });

  it('runs with reduced privileges', () => {
    expect({ read_only, cap_drop, security_opt }).toEqual({
      read_only: true,
      cap_drop: ['ALL'],
      security_opt: ['no-new-privileges:true'],
    });
  });
});

it('passes flags to etcd and the Kubernetes programs that they know', async () => {
  const { etcd, kubeApiserver, kubeControllerManager } = await ensureBinaries();
  const programs = { etcd, 'kube-apiserver-1': kubeApiserver, 'kube-controller-manager': kubeControllerManager };
  for (const [name, program] of Object.entries(programs)) {
    const { stdout, stderr } = await run(program, ['--help'], { maxBuffer: 4 * 1024 * 1024 });
    for (const flag of service(name).command ?? []) {
      const [option = ''] = flag.split('=');
      expect([option, `${stdout}${stderr}`.includes(option)]).toEqual([option, true]);
    }
  }
});

it('passes valid configurations to NATS and Redis', async () => {
  const [port = 0] = await freePorts(1);
  expect(service('nats').command).toEqual(['--config', '/certificates/nats.conf']);
  await run(await ensureNatsServer(), ['--config', localCopy('nats', 'nats.conf', { '/data': directory }), '-t']);
  expect(service('redis').command).toEqual(['redis-server', '/certificates/redis.conf']);
  const program = 'redis-server';
  const log = join(directory, 'redis.log');
  const configuration = localCopy('redis', 'redis.conf', { 'dir /data': `dir ${directory}` });
  const args = [configuration, '--tls-port', String(port), '--bind', '127.0.0.1'];
  const redis = new ServerProcess({ name: 'redis', program, args, log });
  try {
    await redis.start();
    await redis.ready(async () => readFileSync(log, 'utf8').includes('Ready to accept connections'), 20_000);
  } finally {
    await redis.stop();
  }
});

it('starts Kafka with a valid configuration', async () => {
  expect(service('kafka').image?.split('@')[0]).toBe(`apache/kafka:${KAFKA_VERSION}`);
  const home = join(directory, 'kafka');
  mkdirSync(join(home, 'bin'), { recursive: true });
  // The image has scripts for the same classes.
  for (const [script, mainClass] of [
    ['kafka-storage.sh', 'kafka.tools.StorageTool'],
    ['kafka-server-start.sh', 'kafka.Kafka'],
  ] as const) {
    const java = `exec java -Xmx512m -cp '${join(await ensureKafkaJars(), '*')}' ${mainClass} "$@"`;
    writeFileSync(join(home, 'bin', script), `#!/bin/sh\n${java}\n`, { mode: 0o755 });
  }
  // Records the permissions that the start script adds.
  const grants = join(home, 'grants');
  writeFileSync(join(home, 'bin', 'kafka-acls.sh'), `#!/bin/sh\necho "$@" >> '${grants}'\n`, { mode: 0o755 });
  const [program = '', ...args] = service('kafka').entrypoint ?? [];
  expect(args.at(-1)).toBe('/certificates/kafka.properties');
  const ports = await freePorts(3);
  const configuration = localCopy('kafka', 'kafka.properties', {
    ...Object.fromEntries(['9092', '9093', '9094'].map((port, index) => [`:${port}`, `:${ports[index]}`])),
    '/var/lib/kafka/data': join(home, 'data'),
  });
  const log = join(home, 'kafka.log');
  const script = join(root, 'infra/images/start-kafka.sh');
  const kafka = new ServerProcess({
    name: 'kafka',
    program,
    args: [script, home, configuration],
    log,
  });
  try {
    // The second start finds a formatted data directory.
    for (let start = 1; start <= 2; start++) {
      await kafka.start();
      for (const port of ports) await kafka.ready(() => accepts(port), 180_000);
      await kafka.stop(20_000);
    }
    const granted = readFileSync(grants, 'utf8');
    expect(granted).toContain('User:sluice-watcher --topic sluice.changes --operation Write');
    const ofWatcher = granted.split('\n').filter((line) => line.includes('User:sluice-watcher'));
    expect(ofWatcher.filter((line) => /sluice\.(mutations|requests) .*Write/.test(line))).toEqual([]);
  } finally {
    await kafka.kill();
  }
});

it('passes a valid configuration and rules to Prometheus', async () => {
  const copy = join(directory, 'prometheus');
  cpSync(join(root, 'infra/prometheus'), copy, { recursive: true });
  const { promtool, prometheus } = await ensurePrometheus();
  const { stdout } = await run(promtool, ['check', 'config', join(copy, 'prometheus.yaml')]);
  const rules = readFileSync(join(copy, 'alerts.yaml'), 'utf8').match(/- alert:/g) ?? [];
  expect(stdout).toContain(`${rules.length} rules found`);
  expect(rules.length).toBeGreaterThan(9);
  const help = await run(prometheus, ['--help']);
  for (const flag of service('prometheus').command ?? []) {
    expect(`${help.stdout}${help.stderr}`).toContain(flag.split('=')[0]);
  }
});

/** Whether a server accepts connections on the port. */
function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port });
    const finish = (accepted: boolean) => {
      socket.destroy();
      resolve(accepted);
    };
    socket.once('connect', () => finish(true));
    socket.once('error', () => finish(false));
  });
}
