export { Recorder } from './recorder.ts';
export { RecordingDirectory } from './recording-directory.ts';
export { RecordingReader } from './recording-reader.ts';
export { toNewRecord } from './records.ts';
