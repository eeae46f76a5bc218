export { Recorder, type RecorderOptions } from './recorder.ts';
export { RecordingDirectory, type RecordingLimits } from './recording-directory.ts';
export type { RecordedPeriod, RecordedRange } from './recording-file.ts';
export { type Coverage, type RecordedHistory, RecordingReader } from './recording-reader.ts';
export { type StoredRecord, toNewRecord } from './records.ts';
