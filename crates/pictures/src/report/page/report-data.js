"use strict";
// Reads the report's data: JSON in which long arrays are base64 of
// little-endian typed arrays, written {"f32": "..."}.

const ARRAY_TYPES = { f32: Float32Array, f64: Float64Array, u32: Uint32Array, i32: Int32Array, u8: Uint8Array };

/** The bytes of a base64 text; the browser's own decoder where there is one. */
function bytesOfBase64(text) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = binary.charCodeAt(i);
  return bytes;
}

/** A typed array of its written form; a plain list and null stay as they are. */
function typedArray(field) {
  if (field === null || field === undefined || Array.isArray(field)) return field ?? null;
  const kind = Object.keys(ARRAY_TYPES).find((one) => one in field);
  const Type = ARRAY_TYPES[kind];
  const bytes = bytesOfBase64(field[kind]);
  return new Type(bytes.buffer, bytes.byteOffset, bytes.byteLength / Type.BYTES_PER_ELEMENT);
}

/** Replaces the written arrays of an object by typed ones. */
function withTypedArrays(object, names) {
  const read = { ...object };
  for (const name of names) read[name] = typedArray(object[name]);
  return read;
}

/** The report: the JSON with typed arrays, links least believed or trusted first. */
function readReport(text) {
  const report = JSON.parse(text);
  if (report.version !== 1) {
    throw new Error(`the data have version ${report.version}; this page reads version 1`);
  }
  report.nodes = withTypedArrays(report.nodes, ["x", "y", "view", "degree", "label", "cluster", "stability"]);
  const columns = ["src", "dst", "weight", "mu", "trust", "suspect", "belief", "rank", "spread"];
  report.links = leastFirst(withTypedArrays(report.links, columns), [...columns, "why"]);
  return report;
}

/**
 * What the links stand by: belief where they were judged, else trust. Ranges of it are
 * found by bisection, so the order is made sure of.
 */
function leastFirst(links, columns) {
  links.by = links.belief ? "belief" : "trust";
  const measure = links[links.by];
  let sorted = true;
  for (let i = 1; i < measure.length && sorted; i++) sorted = measure[i - 1] <= measure[i];
  if (!sorted) {
    const order = Uint32Array.from(measure, (_, i) => i).sort((a, b) => measure[a] - measure[b]);
    for (const name of columns) {
      const column = links[name];
      if (column) links[name] = column.map((_, i) => column[order[i]]);
    }
  }
  links.measure = links[links.by];
  return links;
}

/** "believed" or "trusted". */
function leastWord(report) {
  return report.links.by === "belief" ? "believed" : "trusted";
}

/** A node's id, or its row where the nodes have none. */
function nodeId(report, node) {
  return report.nodes.ids ? String(report.nodes.ids[node]) : String(node);
}

/** What a node is called: its name, or else its id. */
function nodeName(report, node) {
  return report.nodes.names?.[node] || nodeId(report, node);
}

/** Its name and its id, where it has both. */
function nodeTitle(report, node) {
  const [name, id] = [nodeName(report, node), nodeId(report, node)];
  return name === id ? id : `${name} (${id})`;
}

/** For each node its links, in their order: `of(node)` gives positions. */
class NodeLinks {
  constructor(report) {
    const { src, dst } = report.links;
    const start = new Uint32Array(report.nodes.n + 1);
    for (let i = 0; i < src.length; i++) {
      start[src[i] + 1]++;
      if (dst[i] !== src[i]) start[dst[i] + 1]++;
    }
    for (let node = 0; node < report.nodes.n; node++) start[node + 1] += start[node];
    const next = start.slice();
    const links = new Uint32Array(start[report.nodes.n]);
    for (let i = 0; i < src.length; i++) {
      links[next[src[i]]++] = i;
      if (dst[i] !== src[i]) links[next[dst[i]]++] = i;
    }
    this.start = start;
    this.links = links;
  }

  of(node) {
    return this.links.subarray(this.start[node], this.start[node + 1]);
  }
}
