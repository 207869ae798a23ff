// What a node's colour says. Every way of colouring comes down to a small
// number of categories, so that a byte a node and a palette are all that
// the drawing needs.

/** Places in the palette of the shaders. */
const PALETTE_SIZE = 16;
/** More categories than this share one grey. */
const NAMED_CATEGORIES = 9;

// Okabe and Ito's colours and Tol's muted ones: told apart with any colour
// vision. Vermilion is left out: it means "suspect"; orange, its neighbour, is last.
const CATEGORY_COLOURS = {
  light: ["#0072b2", "#009e73", "#cc79a7", "#56b4e9", "#882255", "#999933", "#332288", "#44aa99", "#e69f00"],
  dark: ["#4aa3df", "#1fbf92", "#dc92bb", "#9bd6f7", "#c4588b", "#bcbc55", "#9385e6", "#6fcfbf", "#e9ae2b"],
};
// Viridis, from few links to many; the many stand out from the background.
const DEGREE_COLOURS = {
  light: ["#b8d73a", "#6dcd59", "#35b779", "#1f9e89", "#26828e", "#31688e", "#3e4a89", "#482878", "#440154"],
  dark: ["#5b4f9c", "#4a63a3", "#3a7aa0", "#2a939c", "#25a98d", "#42c277", "#78d35f", "#b4de2c", "#fde725"],
};
const OTHER_COLOUR = { light: "#8b8f96", dark: "#8b919b" };
const NONE_COLOUR = { light: "#c3c6cb", dark: "#565c66" };

/** The colours of the canvas that are not categories. */
const SURFACE = {
  light: { background: "#ffffff", link: "#4b5563", suspect: "#d55e00", ink: "#1b1f24", dim: "#d9dce1" },
  dark: { background: "#15181d", link: "#9aa5b5", suspect: "#ff8a3c", ink: "#f1f3f5", dim: "#30353d" },
};

/** Red, green and blue from 0 to 1. */
function channels(hex) {
  return [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16) / 255);
}

/** The ways in which this report's nodes can be coloured. */
function colourChoices(report) {
  const { nodes } = report;
  const choices = [];
  if (nodes.label && nodes.labels.length) choices.push({ value: "label", name: "Label" });
  if (nodes.cluster && nodes.clusters > 0) choices.push({ value: "cluster", name: "Cluster" });
  if (nodes.view && nodes.views.length > 1) choices.push({ value: "view", name: "View" });
  if (nodes.degree) choices.push({ value: "degree", name: "Degree" });
  if (report.links.belief) choices.push({ value: "belief", name: "Belief in its links" });
  return choices;
}

/** Categories by name: the largest ones are named, the rest shares a grey. */
function namedCategories(values, names, n) {
  const counts = new Float64Array(names.length);
  let none = 0;
  for (let i = 0; i < n; i++) {
    if (values[i] >= 0 && values[i] < names.length) counts[values[i]]++;
    else none++;
  }
  const present = [...counts.keys()].filter((one) => counts[one] > 0);
  const named = new Set(present.slice().sort((a, b) => counts[b] - counts[a]).slice(0, NAMED_CATEGORIES));
  const place = new Uint8Array(names.length).fill(NAMED_CATEGORIES);
  const entries = [];
  let rest = 0;
  const unnamed = [];
  for (const one of present) {
    if (named.has(one)) {
      place[one] = entries.length;
      entries.push({ name: names[one], count: counts[one], place: entries.length, kind: "category" });
    } else {
      rest += counts[one];
      unnamed.push(names[one]);
    }
  }
  if (rest > 0) entries.push({ name: unnamed.length > 1 ? `${unnamed.length} others` : unnamed[0], count: rest, place: NAMED_CATEGORIES, kind: "other" });
  if (none > 0) entries.push({ name: "none", count: none, place: NAMED_CATEGORIES + 1, kind: "none" });
  const places = new Uint8Array(n);
  for (let i = 0; i < n; i++) {
    const known = values[i] >= 0 && values[i] < names.length;
    places[i] = known ? place[values[i]] : NAMED_CATEGORIES + 1;
  }
  return { places, entries };
}

/** Degrees in classes that double: 0, 1, 2-3, 4-7 and so on; the last is open. */
function degreeCategories(degree, n) {
  const last = DEGREE_COLOURS.light.length - 1;
  const places = new Uint8Array(n);
  const counts = new Float64Array(last + 1);
  for (let i = 0; i < n; i++) {
    places[i] = Math.min(last, 32 - Math.clz32(degree[i]));
    counts[places[i]]++;
  }
  const entries = [];
  const present = [...counts.keys()].filter((place) => counts[place] > 0);
  const [bottom, top] = [present[0], present[present.length - 1]];
  for (let place = 0; place <= last; place++) {
    const low = place === 0 ? 0 : 2 ** (place - 1);
    const high = place === 0 ? 0 : 2 ** place - 1;
    const name = place === last ? `${low} or more` : low === high ? `${low}` : `${low} to ${high}`;
    if (counts[place] > 0) entries.push({ name, count: counts[place], place, kind: "degree", shade: top > bottom ? (place - bottom) / (top - bottom) : 1 });
  }
  return { places, entries };
}

/** The mean belief in the links of each node, in classes from these values on. */
const BELIEF_CLASSES = [0, 0.25, 0.5, 0.75, 0.9];

function beliefCategories({ src, dst, belief }, n) {
  const [sums, degrees] = [new Float64Array(n), new Float64Array(n)];
  for (let i = 0; i < src.length; i++) {
    for (const node of [src[i], dst[i]]) {
      sums[node] += belief[i];
      degrees[node]++;
    }
  }
  const last = BELIEF_CLASSES.length - 1;
  const places = new Uint8Array(n);
  const counts = new Float64Array(last + 2);
  for (let i = 0; i < n; i++) {
    places[i] = degrees[i] ? BELIEF_CLASSES.findLastIndex((least) => sums[i] / degrees[i] >= least) : last + 1;
    counts[places[i]]++;
  }
  const entries = BELIEF_CLASSES.map((least, place) => ({
    name: `${least} to ${BELIEF_CLASSES[place + 1] ?? 1}`, count: counts[place], place, kind: "degree", shade: place / last,
  }));
  entries.push({ name: "no links", count: counts[last + 1], place: last + 1, kind: "none" });
  return { places, entries: entries.filter((entry) => entry.count > 0) };
}

/** The node with the most links in every cluster, which stands for it where nodes have names; else -1. */
function mostLinked({ nodes }) {
  const found = new Int32Array(nodes.clusters).fill(-1);
  if (!nodes.ids && !nodes.names) return Array.from(found);
  for (let node = 0; node < nodes.n; node++) {
    const one = nodes.cluster[node];
    if (one >= 0 && (found[one] < 0 || nodes.degree[node] > nodes.degree[found[one]])) found[one] = node;
  }
  return Array.from(found);
}

/** The category of every node, and the entries of the legend. */
function colouring(report, by) {
  const { nodes } = report;
  if (by === "label") return namedCategories(nodes.label, nodes.labels, nodes.n);
  if (by === "view") return namedCategories(nodes.view, nodes.views, nodes.n);
  if (by === "cluster") {
    const names = mostLinked(report).map((node, one) => (node < 0 ? `cluster ${one}` : `cluster ${one}: ${nodeName(report, node)}`));
    return namedCategories(nodes.cluster, names, nodes.n);
  }
  if (by === "degree") return degreeCategories(nodes.degree, nodes.n);
  if (by === "belief") return beliefCategories(report.links, nodes.n);
  return { places: new Uint8Array(nodes.n), entries: [{ name: "nodes", count: nodes.n, place: 0, kind: "category" }] };
}

/** The colour of an entry of the legend. */
function entryColour(entry, theme) {
  // The classes that there are share the whole of the scale.
  if (entry.kind === "degree") return DEGREE_COLOURS[theme][Math.round(entry.shade * (DEGREE_COLOURS[theme].length - 1))];
  if (entry.kind === "other") return OTHER_COLOUR[theme];
  if (entry.kind === "none") return NONE_COLOUR[theme];
  return CATEGORY_COLOURS[theme][entry.place];
}

/** Colour by place, as text; an entry that is not kept is dimmed. */
function paletteColours(entries, kept, theme) {
  const colours = new Array(PALETTE_SIZE).fill(null).map(() => ({ colour: NONE_COLOUR[theme], dimmed: false }));
  for (const entry of entries) {
    const dimmed = kept.size > 0 && !kept.has(entry.place);
    colours[entry.place] = { colour: dimmed ? SURFACE[theme].dim : entryColour(entry, theme), dimmed };
  }
  return colours;
}
