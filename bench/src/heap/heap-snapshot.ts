/** The used parts of a .heapsnapshot, V8's format, as arrays with an element per node or edge. */
export interface HeapSnapshot {
  readonly nodes: number;
  /** Index into `typeNames`. */
  readonly types: Uint8Array;
  readonly typeNames: readonly string[];
  /** Index into `strings`: the class of an object, the text of a string. */
  readonly names: Int32Array;
  /** In bytes, without what the node refers to. */
  readonly sizes: Float64Array;
  /** The edges of node n are those from `firstEdges[n]` up to, excluding, `firstEdges[n + 1]`. */
  readonly firstEdges: Int32Array;
  /** The node that an edge leads to; -1 if the edge does not keep it alive. */
  readonly targets: Int32Array;
  /** Index into `strings` of the name of a field; -1 for elements and variables. */
  readonly fields: Int32Array;
  readonly strings: readonly string[];
}

interface Header {
  readonly meta: {
    readonly node_fields: readonly string[];
    readonly node_types: readonly [readonly string[]];
    readonly edge_fields: readonly string[];
    readonly edge_types: readonly [readonly string[]];
  };
  readonly node_count: number;
  readonly edge_count: number;
}

/** Parses numbers from the bytes, because a snapshot may be longer than the longest string. */
export function parseHeapSnapshot(bytes: Buffer): HeapSnapshot {
  const sections = ['"nodes":[', '"edges":[', '"strings":['] as const;
  const [nodesAt, edgesAt, stringsAt] = startsOf(bytes, sections);
  const head = bytes.toString('utf8', 0, nodesAt - sections[0].length).trimEnd();
  const { meta, node_count: nodes, edge_count: edges }: Header = JSON.parse(`${head.replace(/,$/, '')}}`).snapshot;
  const typeNames = meta.node_types[0];
  const [types, names, sizes] = [new Uint8Array(nodes), new Int32Array(nodes), new Float64Array(nodes)];
  const firstEdges = new Int32Array(nodes + 1);
  const read = numbers(bytes);
  const field = (name: string) => meta.node_fields.indexOf(name);
  const [type, name, size, count] = [field('type'), field('name'), field('self_size'), field('edge_count')];
  const row = new Float64Array(meta.node_fields.length);
  read.position = nodesAt;
  for (let node = 0; node < nodes; node++) {
    for (let i = 0; i < row.length; i++) row[i] = read.next();
    types[node] = row[type] ?? 0;
    names[node] = row[name] ?? 0;
    sizes[node] = row[size] ?? 0;
    firstEdges[node + 1] = (firstEdges[node] ?? 0) + (row[count] ?? 0);
  }
  const [targets, fields] = [new Int32Array(edges), new Int32Array(edges).fill(-1)];
  const [weak, property, internal] = ['weak', 'property', 'internal'].map((name) => meta.edge_types[0].indexOf(name));
  const [edgeType, label, to] = ['type', 'name_or_index', 'to_node'].map((name) => meta.edge_fields.indexOf(name));
  const edge = new Float64Array(meta.edge_fields.length);
  read.position = edgesAt;
  for (let i = 0; i < edges; i++) {
    for (let j = 0; j < edge.length; j++) edge[j] = read.next();
    const kind = edge[edgeType ?? 0];
    targets[i] = kind === weak ? -1 : (edge[to ?? 0] ?? 0) / row.length;
    if (kind === property || kind === internal) fields[i] = edge[label ?? 0] ?? 0;
  }
  const strings: string[] = JSON.parse(`[${bytes.toString('utf8', stringsAt, bytes.lastIndexOf(']'))}]`);
  return { nodes, types, typeNames, names, sizes, firstEdges, targets, fields, strings };
}

function startsOf(bytes: Buffer, sections: readonly [string, string, string]): readonly [number, number, number] {
  let from = 0;
  const [nodes, edges, strings] = sections.map((section) => {
    const at = bytes.indexOf(section, from);
    if (at < 0) throw new Error(`not a heap snapshot: no ${section}`);
    from = at + section.length;
    return from;
  });
  return [nodes ?? 0, edges ?? 0, strings ?? 0];
}

/** Reads the next decimal number after `position`. */
function numbers(bytes: Buffer): { position: number; next(): number } {
  const [zero, nine] = [0x30, 0x39];
  const isDigit = (byte: number | undefined) => byte !== undefined && byte >= zero && byte <= nine;
  return {
    position: 0,
    next() {
      let at = this.position;
      while (at < bytes.length && !isDigit(bytes[at])) at++;
      let value = 0;
      for (; isDigit(bytes[at]); at++) value = value * 10 + (bytes[at] as number) - zero;
      this.position = at;
      return value;
    },
  };
}
