import { addConfigurationOptions } from '@sluice/fleet/configuration';
import { countBuffersAsHeap } from '@sluice/platform/process';
import type { Command } from 'commander';
import type { Role } from '../../composition/roles/role.ts';

const summaries: Readonly<Record<Role, string>> = {
  worker: 'watch clusters, compute the writes and apply them, for a share of the work',
  watcher: 'watch clusters and publish changes to the bus',
  reconciler: 'compute the writes for a share of the partitions',
  writer: 'apply planned writes of a share of the partitions to the clusters',
};

export function addRoleCommands(program: Command): void {
  for (const role of Object.keys(summaries) as Role[]) {
    const command = program
      .command(role)
      .summary(summaries[role])
      .description(
        `Runs one ${role} of a fleet in the foreground until SIGINT or SIGTERM: ${summaries[role]}.\n` +
          'Any number can run; they share the work and take over from each other.',
      );
    addConfigurationOptions(command).action(async () => {
      // Its records and sockets are buffers.
      if (role === 'worker') countBuffersAsHeap();
      // The thread loads its modules while this one loads the rest of the program.
      const { prepareLeaseThread } = await import('@sluice/fleet/lease-thread');
      const startLeaseThread = prepareLeaseThread();
      const { runRole } = await import('./run-role.ts');
      await runRole(role, command, startLeaseThread);
    });
  }
}
