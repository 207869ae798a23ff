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
}

/** What the checkboxes and the slider ask for. */
class LinkFilter {
  constructor(report) {
    this.measure = report.links.measure;
    this.groups = { ordinary: new LinkGroup(report.links, false), suspect: new LinkGroup(report.links, true) };
    this.showOrdinary = true;
    this.showSuspects = true;
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
