// Which links are drawn. Links stand least trusted first, so a threshold of
// trust is a range of positions, and moving it costs a bisection.

/** The first position whose trust is not below `value`. */
function firstNotBelow(trust, value) {
  let low = 0;
  let high = trust.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (trust[middle] < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The first position whose trust is above `value`. */
function firstAbove(trust, value) {
  let low = 0;
  let high = trust.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (trust[middle] <= value) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The links of one kind (suspects or the others), with their trust. */
class LinkGroup {
  constructor(links, wanted) {
    const { suspect, trust } = links;
    let n = 0;
    for (let i = 0; i < trust.length; i++) n += (suspect[i] !== 0) === wanted ? 1 : 0;
    this.links = new Uint32Array(n);
    this.trust = new Float32Array(n);
    let at = 0;
    for (let i = 0; i < trust.length; i++) {
      if ((suspect[i] !== 0) !== wanted) continue;
      this.links[at] = i;
      this.trust[at++] = trust[i];
    }
  }

  get n() {
    return this.links.length;
  }
}

/** What the checkboxes and the slider ask for. */
class LinkFilter {
  constructor(report) {
    this.trust = report.links.trust;
    this.groups = { ordinary: new LinkGroup(report.links, false), suspect: new LinkGroup(report.links, true) };
    this.showOrdinary = true;
    this.showSuspects = true;
    this.side = "upto";
    this.share = 1;
  }

  /**
   * The threshold: the trust below which this share of the links lies. A slider
   * over trust itself would be of little use, most links lie near its ends.
   */
  get threshold() {
    const n = this.trust.length;
    if (n === 0) return 1;
    if (this.side === "upto") {
      if (this.share <= 0) return -1;
      return this.trust[Math.min(n - 1, Math.max(0, Math.ceil(this.share * n) - 1))];
    }
    if (this.share >= 1) return Infinity;
    return this.trust[Math.min(n - 1, Math.floor(this.share * n))];
  }

  /** From where to where a group is drawn. */
  range(kind) {
    const { trust } = this.groups[kind];
    const shown = kind === "suspect" ? this.showSuspects : this.showOrdinary;
    if (!shown) return [0, 0];
    const { threshold } = this;
    return this.side === "upto" ? [0, firstAbove(trust, threshold)] : [firstNotBelow(trust, threshold), trust.length];
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
