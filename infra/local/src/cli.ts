import { spawn } from 'node:child_process';
import { parseArgs } from 'node:util';
import { findCluster, listClusters, runningPrograms, startCluster, stopCluster } from './background.ts';
import { ensureBinaries, ensureHelm, ensureJaeger, ensureNatsServer, ensurePrometheus } from './binaries.ts';
import { type Identity, identities } from './credentials.ts';
import { LocalError } from './local-error.ts';

const USAGE = `Runs a Kubernetes control plane on loopback without containers: etcd, kube-apiserver and optionally
kube-controller-manager. There is no kubelet, so the status of a Pod is what you write to it.

usage: infra/local/cluster <command> [options]

  build                    build the programs with Go, with NATS, Prometheus, Helm and Jaeger for tests
                           (the other commands build what they need)
  start                    start a cluster in the background; does nothing if it is running
    --rbac                   enable RBAC (default: every user may do everything)
    --controllers            start kube-controller-manager with the three endpoint controllers
  stop                     stop the cluster and remove its data
    --all                    stop all clusters
  status                   list the clusters
  kubeconfig               print the path of a kubeconfig
    --user NAME              ${identities.join(', ')} (default: admin)
  kubectl -- ARGUMENTS     run kubectl on the cluster as admin

  --name NAME              name of the cluster (default: sluice)
  --help                   show this help

  infra/local/cluster start && bin/sluice run --kubeconfig "$(infra/local/cluster kubeconfig)"
`;

const say = (line: string) => process.stderr.write(`cluster: ${line}\n`);
const print = (line: string) => process.stdout.write(`${line}\n`);

async function main(args: readonly string[]): Promise<number> {
  const { command, options, rest } = parse(args);
  if (options.help === true || command === undefined || command === 'help') {
    process.stdout.write(USAGE);
    return command === undefined && options.help !== true ? 2 : 0;
  }
  const name = options.name ?? 'sluice';
  if (!/^[a-z0-9][a-z0-9-]{0,40}$/.test(name)) {
    throw new LocalError('usage', `invalid cluster name "${name}": use lower-case letters, digits and "-"`);
  }
  switch (command) {
    case 'build':
      await ensureBinaries(say);
      await ensureNatsServer(say);
      await ensurePrometheus(say);
      await ensureHelm(say);
      await ensureJaeger(say);
      return 0;
    case 'start':
      return start(name, options.rbac === true ? 'RBAC' : 'AlwaysAllow', options.controllers === true);
    case 'stop':
      return stop(options.all === true ? listClusters().map((cluster) => cluster.name) : [name]);
    case 'status':
      return status();
    case 'kubeconfig':
      print(await kubeconfig(name, options.user ?? 'admin'));
      return 0;
    case 'kubectl':
      return runKubectl(await kubeconfig(name, 'admin'), rest);
    default:
      throw new LocalError('usage', `unknown command "${command}"; see infra/local/cluster --help`);
  }
}

function parse(args: readonly string[]) {
  const end = args.indexOf('--');
  try {
    const { values, positionals } = parseArgs({
      args: [...(end < 0 ? args : args.slice(0, end))],
      allowPositionals: true,
      options: {
        name: { type: 'string' },
        rbac: { type: 'boolean' },
        controllers: { type: 'boolean' },
        all: { type: 'boolean' },
        user: { type: 'string' },
        help: { type: 'boolean', short: 'h' },
      },
    });
    const [command, ...more] = positionals;
    if (more.length > 0 && command !== 'kubectl') {
      throw new LocalError('usage', `unexpected argument "${more.join(' ')}"; see infra/local/cluster --help`);
    }
    return { command, options: values, rest: [...more, ...(end < 0 ? [] : args.slice(end + 1))] };
  } catch (error) {
    if (error instanceof LocalError || !(error instanceof Error)) throw error;
    throw new LocalError('usage', `${error.message.split('. ')[0]}; see infra/local/cluster --help`);
  }
}

async function start(name: string, authorization: 'RBAC' | 'AlwaysAllow', controllers: boolean): Promise<number> {
  const earlier = findCluster(name);
  if (earlier !== undefined) {
    const running = await runningPrograms(earlier);
    if (running.length === Object.keys(earlier.pids).length) {
      const same = earlier.authorization === authorization && 'kube-controller-manager' in earlier.pids === controllers;
      if (!same) throw new LocalError('usage', `cluster "${name}" is running with other options; stop it first`);
      say(`cluster "${name}" is running at ${earlier.url}`);
      return 0;
    }
    say(`cluster "${name}" was not stopped properly; starting a new one`);
  }
  await ensureBinaries(say);
  const cluster = await startCluster({ name, authorization, kubeControllerManager: controllers });
  say(`cluster "${name}" is running at ${cluster.url} (${authorization}); kubeconfig: ${cluster.kubeconfigs.admin}`);
  return 0;
}

async function stop(names: readonly string[]): Promise<number> {
  for (const name of names) {
    const cluster = findCluster(name);
    if (cluster !== undefined) await stopCluster(cluster);
    say(cluster === undefined ? `cluster "${name}" does not exist` : `cluster "${name}" is stopped`);
  }
  return 0;
}

async function status(): Promise<number> {
  const clusters = listClusters();
  if (clusters.length === 0) print('no clusters; start one with infra/local/cluster start');
  for (const cluster of clusters) {
    const running = await runningPrograms(cluster);
    print(`${cluster.name}  ${cluster.url}  ${cluster.authorization}`);
    for (const [program, pid] of Object.entries(cluster.pids)) {
      print(`  ${program.padEnd(24)} ${running.includes(program) ? `pid ${pid}` : 'not running'}`);
    }
    print(`  logs and data: ${cluster.directory}`);
  }
  return 0;
}

async function kubeconfig(name: string, user: string): Promise<string> {
  if (!isIdentity(user)) throw new LocalError('usage', `unknown user "${user}"; use one of ${identities.join(', ')}`);
  const cluster = findCluster(name);
  if (cluster === undefined)
    throw new LocalError('usage', `no cluster "${name}"; start it with infra/local/cluster start --name ${name}`);
  return cluster.kubeconfigs[user];
}

function isIdentity(name: string): name is Identity {
  return (identities as readonly string[]).includes(name);
}

async function runKubectl(config: string, args: readonly string[]): Promise<number> {
  const { kubectl } = await ensureBinaries(say);
  return new Promise((resolve, reject) => {
    const child = spawn(kubectl, ['--kubeconfig', config, ...args], { stdio: 'inherit' });
    child.on('error', reject);
    child.on('close', (code) => resolve(code ?? 1));
  });
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  if (!(error instanceof LocalError)) throw error;
  say(error.message);
  process.exitCode = error.code === 'usage' ? 2 : 1;
}
