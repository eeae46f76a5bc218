import type { Command } from 'commander';

type Add = (program: Command) => unknown;

/** All commands by name. Each is loaded only when it is called, because loading dominates the start time. */
const commands: readonly { readonly names: readonly string[]; readonly load: () => Promise<Add> }[] = [
  { names: ['run'], load: async () => (await import('./run.ts')).addRunCommand },
  { names: ['observe'], load: async () => (await import('./observe.ts')).addObserveCommand },
  { names: ['open'], load: async () => (await import('./open.ts')).addOpenCommand },
  {
    names: ['worker', 'watcher', 'reconciler', 'writer'],
    load: async () => (await import('./role.ts')).addRoleCommands,
  },
  { names: ['clusters'], load: async () => (await import('./clusters.ts')).addClustersCommand },
  { names: ['console'], load: async () => (await import('./console.ts')).addConsoleCommand },
  { names: ['services'], load: async () => (await import('./services.ts')).addServicesCommand },
  { names: ['top'], load: async () => (await import('./top.ts')).addTopCommand },
  { names: ['history', 'explain', 'trace'], load: async () => (await import('./inspect.ts')).addInspectCommands },
  {
    names: ['problems', 'outages', 'slow', 'stuck', 'flapping', 'drain', 'node'],
    load: async () => (await import('./questions.ts')).addQuestionCommands,
  },
  { names: ['record'], load: async () => (await import('./record.ts')).addRecordCommand },
  { names: ['rollout'], load: async () => (await import('./rollout.ts')).addRolloutCommand },
  { names: ['diff'], load: async () => (await import('./diff.ts')).addDiffCommand },
  { names: ['verify'], load: async () => (await import('./verify.ts')).addVerifyCommand },
  { names: ['dead-letters'], load: async () => (await import('./dead-letters.ts')).addDeadLettersCommand },
  { names: ['parked'], load: async () => (await import('./parked.ts')).addParkedCommand },
  { names: ['partitions'], load: async () => (await import('./partitions.ts')).addPartitionsCommand },
  { names: ['capacity'], load: async () => (await import('./capacity.ts')).addCapacityCommand },
  { names: ['compact'], load: async () => (await import('./compact.ts')).addCompactCommand },
  { names: ['doctor'], load: async () => (await import('./doctor.ts')).addDoctorCommand },
  {
    names: ['support-bundle'],
    load: async () => (await import('./support-bundle.ts')).addSupportBundleCommand,
  },
  { names: ['migrate'], load: async () => (await import('./migrate.ts')).addMigrateCommand },
  {
    names: ['completion'],
    load: async () => {
      const { addCompletionCommand } = await import('./completion.ts');
      return (program) => addCompletionCommand(program, (all) => addCommands(all, undefined));
    },
  },
  { names: ['config'], load: async () => (await import('./config.ts')).addConfigCommand },
];

/** Names of all commands, in the order of the help. */
export const commandNames: readonly string[] = commands.flatMap(({ names }) => names);

/** Adds the called command, or all commands for the help or an unknown name. */
export async function addCommands(program: Command, called: string | undefined): Promise<void> {
  const matching = commands.filter(({ names }) => called !== undefined && names.includes(called));
  const adds = await Promise.all((matching.length > 0 ? matching : commands).map(({ load }) => load()));
  for (const add of adds) add(program);
}
