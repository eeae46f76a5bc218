import type { Configuration } from '@sluice/fleet/configuration';
import type { Recorder } from '@sluice/recording';
import type { RecorderPorts } from './open-recorder.ts';

/** The recorder of a process that records only if the configuration names a directory; most do not, so it is loaded on demand. */
export async function configuredRecorder(
  { recording }: Pick<Configuration, 'recording'>,
  ports: RecorderPorts,
): Promise<Recorder | undefined> {
  if (recording.directory === undefined) return undefined;
  const { openRecorder } = await import('./open-recorder.ts');
  return openRecorder(recording, ports);
}
