export * from './kubeconfig-text.ts';
export * from './lease-server.ts';
