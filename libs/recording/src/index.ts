export { Recorder } from './recorder.ts';
export { RecordingDirectory } from './recording-directory.ts';
export { toNewRecord } from './records.ts';
