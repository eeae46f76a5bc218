export { Playback } from './playback.ts';
export type { PodSpan, PodTimeline } from './pod-timelines.ts';
export type { Appearance, Propagation } from './propagations.ts';
export { RecordConverter } from './record-converter.ts';
export type { ObjectChange } from './recorded-objects.ts';
export { Recorder } from './recorder.ts';
export { RecordingDirectory } from './recording-directory.ts';
export type { RecordedRange } from './recording-file.ts';
export { questionsTo, type Recording, RecordingReader } from './recording-reader.ts';
