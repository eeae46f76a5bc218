import colors from 'picocolors';
import { pino } from 'pino';
import { type Clock, type LogFields, type Logger, type LogLevel, loggerOf, redact } from '../index.ts';
import { LineLimit } from './line-limit.ts';
import { withLocalTimes } from './local-time.ts';
import { print } from './print.ts';
import { printable, printableLine } from './printable.ts';
import { systemClock } from './system.ts';
import { columnsOf, wrap } from './wrap.ts';

export const logLevels: readonly LogLevel[] = ['debug', 'info', 'warn', 'error'];

/** A logger whose level can be changed at run time, also for its child loggers. */
export interface RootLogger extends Logger {
  level: LogLevel;
}

/**
 * Creates a logger that writes to standard error, which keeps standard output for results (docs/operations/logs.md).
 */
export function createLogger(format: 'text' | 'json', level: LogLevel, clock: Clock = systemClock): RootLogger {
  const sink = limited(format === 'json' ? jsonSink() : textSink, clock);
  const root: RootLogger = {
    ...loggerOf((at, message, fields) => {
      if (logLevels.indexOf(at) >= logLevels.indexOf(root.level)) sink(at, redact(message), plain(fields));
    }),
    level,
  };
  return root;
}

/** Writes one event as one line. */
type Sink = (level: LogLevel, message: string, fields: Record<string, unknown>) => void;

/** What is logged for developers is not limited. */
function limited(sink: Sink, clock: Clock): Sink {
  const limit = new LineLimit();
  return (level, message, fields) => {
    const now = clock.monotonic();
    for (const { message: event, cluster, suppressed } of limit.ended(now)) {
      sink('warn', 'log lines suppressed', { event, ...(cluster !== undefined && { cluster }), suppressed });
    }
    if (level === 'debug' || limit.admits({ message, cluster: clusterOf(fields) }, now)) sink(level, message, fields);
  };
}

/** Many events name a Service as `cluster/namespace/name`. */
function clusterOf({ cluster, key, service }: Record<string, unknown>): string | undefined {
  if (typeof cluster === 'string') return cluster;
  const named = [key, service].find((value) => typeof value === 'string' && value.includes('/'));
  return typeof named === 'string' ? named.slice(0, named.indexOf('/')) : undefined;
}

function jsonSink(): Sink {
  const destination = pino.destination({ dest: 2, sync: true });
  const lines = pino(
    {
      level: 'debug',
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    { write: (line) => void destination.write(printable(line)) },
  );
  return (level, message, fields) => lines[level](fields, message);
}

const labels = { debug: colors.dim('debug'), info: 'info ', warn: colors.yellow('warn '), error: colors.red('error') };

/** As wide as a label with its space. */
const indent = ' '.repeat(6);

const textSink: Sink = (level, message, fields) => {
  const details = Object.entries(fields).map(([key, value]) => ` ${colors.dim(`${key}=`)}${text(value)}`);
  const event = `${printableLine(message)}${details.join('')}`;
  const width = columnsOf(process.stderr) - indent.length;
  // In a pipe or file, an event is one line.
  const lines = Number.isFinite(width) ? wrap(event, width) : [event];
  print(process.stderr, `${labels[level]} ${lines.join(`\n${indent}`)}\n`);
};

/** Enough for a reason with a stack, in UTF-16 code units. */
const maxValueLength = 4_096;

/**
 * Replaces errors by name and message, so that no request, header or token of an error object is logged, cuts what an API
 * server or a message made long, and redacts the rest.
 */
function plain(fields: LogFields): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).map(([key, value]) => [key, bounded(value)]));
}

function bounded(value: unknown): unknown {
  if (typeof value === 'number') return rounded(value);
  if (typeof value === 'string') return cut(value);
  if (value instanceof Error) return cut(`${value.name}: ${value.message}`);
  if (typeof value !== 'object' || value === null) return value;
  const json = JSON.stringify(value) ?? '';
  const shown = cut(json);
  return shown === json ? value : shown;
}

/** Redacts before it cuts: of a secret that is cut in two, the first part would stay. */
function cut(text: string): string {
  const shown = redact(text.slice(0, 2 * maxValueLength));
  if (text.length <= maxValueLength) return shown;
  const whole = text.length <= 2 * maxValueLength ? shown : shown.slice(0, -maxValueLength);
  return `${whole.slice(0, maxValueLength)}… (${text.length} characters)`;
}

/** Measured durations have more digits than anybody reads; a share below 1 keeps three of them. */
const rounded = (value: number): number => (Math.abs(value) >= 100 ? Math.round(value) : Number(value.toPrecision(3)));

/** Text has local times, like the output beside it; JSON has times in UTC. */
function text(value: unknown): string {
  if (typeof value === 'string') {
    const local = withLocalTimes(value, systemClock.now());
    return printable(/[\s"=]/.test(local) ? JSON.stringify(local) : local);
  }
  return printable(JSON.stringify(value) ?? String(value));
}

/** Names of clusters by identity. Clusters may be added later. */
export type ClusterNames = Pick<ReadonlyMap<string, string>, 'get'>;

/** Fields whose value is the identity of a cluster, or contains it between slashes, commas or spaces. */
const fieldsWithClusters = ['cluster', 'key', 'service', 'group', 'reasons'] as const;

/** A logger that shows the names of clusters instead of their identities. */
export function nameClusters(logger: Logger, names: ClusterNames): Logger {
  return loggerOf((level, message, fields) => {
    const named = fieldsWithClusters.flatMap((field) => {
      const value = fields[field];
      return typeof value === 'string' ? [[field, withNames(value, names)] as const] : [];
    });
    logger[level](message, { ...fields, ...Object.fromEntries(named) });
  });
}

/** Replaces identities of clusters between slashes, commas or spaces by their names: `uid/shop/cart` becomes `west/shop/cart`. */
export const withNames = (text: string, names: ClusterNames): string =>
  text.replace(/[^/, ]+/g, (part) => names.get(part) ?? part);
