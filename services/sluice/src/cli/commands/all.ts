import type { Command } from 'commander';

type Add = (program: Command) => unknown;

/**
 * All commands, by the names under which they are called. Each is loaded only when it is called, since loading is most of
 * what a start costs.
 */
const commands: readonly { readonly names: readonly string[]; readonly load: () => Promise<Add> }[] = [
  { names: ['run'], load: async () => (await import('./run.ts')).addRunCommand },
  { names: ['watcher', 'reconciler', 'writer'], load: async () => (await import('./role.ts')).addRoleCommands },
  { names: ['clusters'], load: async () => (await import('./clusters.ts')).addClustersCommand },
  { names: ['console'], load: async () => (await import('./console.ts')).addConsoleCommand },
  { names: ['history', 'explain', 'trace'], load: async () => (await import('./inspect.ts')).addInspectCommands },
  { names: ['dead-letters'], load: async () => (await import('./dead-letters.ts')).addDeadLettersCommand },
  { names: ['parked'], load: async () => (await import('./parked.ts')).addParkedCommand },
  { names: ['doctor'], load: async () => (await import('./doctor.ts')).addDoctorCommand },
  { names: ['config'], load: async () => (await import('./config.ts')).addConfigCommand },
];

/** The names under which commands are called, in the order of the help. */
export const commandNames: readonly string[] = commands.flatMap(({ names }) => names);

/** Adds the command that is called by this name; all of them if there is none, for the help or for what is wrong. */
export async function addCommands(program: Command, called: string | undefined): Promise<void> {
  const wanted = commands.filter(({ names }) => called !== undefined && names.includes(called));
  const adds = await Promise.all((wanted.length > 0 ? wanted : commands).map(({ load }) => load()));
  for (const add of adds) add(program);
}
