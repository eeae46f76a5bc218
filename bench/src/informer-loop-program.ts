/** A peer built on informers, as a process: `informer-loop-program.ts KUBECONFIG`. SIGTERM stops it. */
import { KubeConfig } from '@kubernetes/client-node';
import { InformerLoop } from './peer/informer-loop.ts';

const [kubeconfig] = process.argv.slice(2);
if (kubeconfig === undefined) throw new Error('usage: informer-loop-program.ts KUBECONFIG');
const config = new KubeConfig();
config.loadFromFile(kubeconfig);
process.once('SIGTERM', () => process.exit(0));
await new InformerLoop(config).start();
