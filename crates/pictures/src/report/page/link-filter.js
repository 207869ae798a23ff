// Which links are drawn. Links stand in the order of their measure, belief or trust,
// so a threshold of it is a range of positions, and moving it costs a bisection.

/** The first position whose measure is not below `value`. */
function firstNotBelow(measure, value) {
  let low = 0;
  let high = measure.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (measure[middle] < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The first position whose measure is above `value`. */
function firstAbove(measure, value) {
  let low = 0;
  let high = measure.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (measure[middle] <= value) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The links of one kind (suspects or the others), with their measure. */
class LinkGroup {
  constructor(links, wanted) {
    const { suspect, measure } = links;
    let n = 0;
    for (let i = 0; i < measure.length; i++) n += (suspect[i] !== 0) === wanted ? 1 : 0;
    this.links = new Uint32Array(n);
    this.measure = new Float32Array(n);
    let at = 0;
    for (let i = 0; i < measure.length; i++) {
      if ((suspect[i] !== 0) !== wanted) continue;
      this.links[at] = i;
      this.measure[at++] = measure[i];
    }
  }

  get n() {
    return this.links.length;
  }

  /** The mean length of its links in the plane. */
  meanLength({ nodes: { x, y }, links: { src, dst } }) {
    let sum = 0;
    for (const link of this.links) sum += Math.hypot(x[src[link]] - x[dst[link]], y[src[link]] - y[dst[link]]);
    return this.n ? sum / this.n : 0;
  }
}

/** How much of the map lines may cover at most, on average, and the opacity of a line. */
const INK = { ordinary: { cover: 0.07, least: 0.012, most: 0.35 }, suspect: { cover: 0.16, least: 0.03, most: 0.9 } };

/**
 * The opacity of so many lines of a mean length: what they would cover is shared out, so
 * that nodes stay visible whatever their number. From close by there is more room.
 */
function lineOpacity(kind, drawn, meanLength, view, width = 1) {
  const { cover, least, most } = INK[kind];
  const zoom = Math.max(1, view.zoom);
  const covered = (drawn * meanLength * view.scale * width) / (view.width * view.height * zoom * zoom);
  return Math.min(most, Math.max(least * Math.sqrt(zoom), cover / Math.max(covered, 1e-9)));
}

/** So many suspects are drawn without being asked for. */
const SUSPECTS_AT_ONCE = 2000;

/** What the checkboxes and the slider ask for. */
class LinkFilter {
  constructor(report) {
    this.measure = report.links.measure;
    this.groups = { ordinary: new LinkGroup(report.links, false), suspect: new LinkGroup(report.links, true) };
    this.lengths = { ordinary: this.groups.ordinary.meanLength(report), suspect: this.groups.suspect.meanLength(report) };
    this.showOrdinary = true;
    // More than some thousand would hide everything: they are drawn when asked for.
    this.showSuspects = this.groups.suspect.n <= SUSPECTS_AT_ONCE;
    this.side = "upto";
    this.share = 1;
  }

  /**
   * The threshold: the measure below which this share of the links lies. A slider
   * over the measure itself would be of little use, most links lie near its ends.
   */
  get threshold() {
    const n = this.measure.length;
    if (n === 0) return 1;
    if (this.side === "upto") {
      if (this.share <= 0) return -1;
      return this.measure[Math.min(n - 1, Math.max(0, Math.ceil(this.share * n) - 1))];
    }
    if (this.share >= 1) return Infinity;
    return this.measure[Math.min(n - 1, Math.floor(this.share * n))];
  }

  /** From where to where a group is drawn. */
  range(kind) {
    const { measure } = this.groups[kind];
    const shown = kind === "suspect" ? this.showSuspects : this.showOrdinary;
    if (!shown) return [0, 0];
    const { threshold } = this;
    return this.side === "upto" ? [0, firstAbove(measure, threshold)] : [firstNotBelow(measure, threshold), measure.length];
  }

  /** How many links of a kind are drawn. */
  drawn(kind) {
    const [from, to] = this.range(kind);
    return to - from;
  }

  /** The threshold in words. */
  get thresholdText() {
    const { threshold } = this;
    if (threshold === -1 || threshold === Infinity) return "no link";
    return figure(threshold);
  }
}
