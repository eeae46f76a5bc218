/** The part of Jaeger's query API that the tests use. */
export interface JaegerSpan {
  readonly traceID: string;
  readonly spanID: string;
  readonly operationName: string;
  /** Microseconds. */
  readonly startTime: number;
  readonly references: readonly JaegerReference[];
  readonly tags: readonly { readonly key: string; readonly value: string | number | boolean }[];
  readonly processID: string;
}

interface JaegerReference {
  readonly refType: 'CHILD_OF' | 'FOLLOWS_FROM';
  readonly traceID: string;
  readonly spanID: string;
}

export interface JaegerTrace {
  readonly traceID: string;
  readonly spans: readonly JaegerSpan[];
  readonly processes: Readonly<Record<string, { readonly serviceName: string }>>;
}

/** The traces with a span of the service that has these tags. */
export async function findTraces(
  queryUrl: string,
  service: string,
  tags: Readonly<Record<string, string>>,
): Promise<readonly JaegerTrace[]> {
  const query = new URLSearchParams({ service, tags: JSON.stringify(tags), limit: '1000' });
  return get(`${queryUrl}/api/traces?${query}`);
}

export async function traceOfId(queryUrl: string, id: string): Promise<JaegerTrace | undefined> {
  const [trace] = await get(`${queryUrl}/api/traces/${id}`);
  return trace;
}

async function get(url: string): Promise<readonly JaegerTrace[]> {
  const response = await fetch(url);
  if (response.status === 404) return [];
  if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
  const { data } = (await response.json()) as { data: readonly JaegerTrace[] };
  return data;
}

export const tagOf = ({ tags }: JaegerSpan, key: string) => tags.find((tag) => tag.key === key)?.value;

export const named = ({ spans }: JaegerTrace, name: string): readonly JaegerSpan[] =>
  spans.filter(({ operationName }) => operationName === name).sort((a, b) => a.startTime - b.startTime);

const parentOf = ({ references, traceID }: JaegerSpan): string | undefined =>
  references.find((of) => of.refType === 'CHILD_OF' && of.traceID === traceID)?.spanID;

/** Links of the span, to any trace. */
export const linksOf = (span: JaegerSpan): readonly JaegerReference[] => {
  const parent = parentOf(span);
  return span.references.filter(({ spanID }) => spanID !== parent);
};

/** Spans whose parent Jaeger does not have. */
export function orphansOf({ spans }: JaegerTrace): readonly JaegerSpan[] {
  const known = new Set(spans.map(({ spanID }) => spanID));
  return spans.filter((span) => {
    const parent = parentOf(span);
    return parent !== undefined && !known.has(parent);
  });
}

/** One line per span, indented below its parent, in order of start time. */
export function outlineOf({ spans, processes }: JaegerTrace): readonly string[] {
  const inOrder = [...spans].sort((a, b) => a.startTime - b.startTime);
  const below = (parent: string | undefined, depth: number): string[] =>
    inOrder
      .filter((span) => parentOf(span) === parent)
      .flatMap((span) => [
        `${'  '.repeat(depth)}${processes[span.processID]?.serviceName}: ${span.operationName}`,
        ...below(span.spanID, depth + 1),
      ]);
  return below(undefined, 0);
}
