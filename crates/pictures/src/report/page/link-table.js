// The list of links: sorted by any column, some hundred rows at a time.

const ROWS_AT_ONCE = 200;

class LinkTable {
  constructor(scatter) {
    this.scatter = scatter;
    this.report = scatter.report;
    const { links } = this.report;
    this.columns = [
      { name: "Rank", values: links.rank, title: "suspicion rank: 1 is the link to look at first" },
      { name: "From", kind: "name", values: links.src },
      { name: "To", kind: "name", values: links.dst },
      { name: "Weight", values: links.weight },
      { name: "Expected", values: links.mu, title: "the weight that the model expects" },
      { name: "Spread", values: links.spread, title: "standard error of the logarithm of the expected weight, by fits to parts of the nodes" },
      { name: "Belief", values: links.belief, title: "estimated probability that the link is real" },
      { name: "Suspect", kind: "mark", values: links.suspect },
      { name: "Trust", values: links.trust, title: "1: the weight is no larger than expected; towards 0: it is far too large" },
      { name: "Why", kind: "words", values: links.why, words: (link) => links.why[link] },
    ].filter(({ values }) => values);
    const first = links.rank ?? links.measure;
    this.sorted = { column: this.columns.findIndex(({ values }) => values === first), descending: false };
    this.rows = 0;
    this.table = byId("link-table");
    this.makeHead();
    byId("only-suspects").addEventListener("change", () => this.sort());
    byId("more-links").addEventListener("click", () => this.addRows());
    byId("links-title").textContent = `Least ${leastWord(this.report)} links`;
    byId("links-lead").textContent = this.lead();
    this.sort();
  }

  lead() {
    const { n, shown } = this.report.links;
    const part = shown < n ? ` Of ${counted(n, "link")} the page holds ${count(shown)}: the least ${leastWord(this.report)}, suspects, and some of the others.` : "";
    const judged = this.report.links.belief ? "Rank 1 is the link to look at first. Belief is the estimated probability that a link is real. " : "";
    return `${judged}Trust is 1 for a weight that is no larger than the model expects and falls towards 0 the larger it is. A row shows its link on the map.${part}`;
  }

  makeHead() {
    const cells = this.columns.map((column, i) => {
      if (column.kind === "words") return element("th", { scope: "col", class: "words" }, column.name);
      const button = element("button", { type: "button", title: column.title }, column.name);
      button.addEventListener("click", () => {
        const same = this.sorted.column === i;
        this.sorted = { column: i, descending: same ? !this.sorted.descending : column.kind === "mark" };
        this.sort();
      });
      return element("th", { scope: "col", class: column.kind === "name" ? "name" : "number" }, button);
    });
    const last = element("th", { scope: "col" }, element("span", { class: "unseen" }, "On the map"));
    this.table.tHead.replaceChildren(element("tr", {}, ...cells, last));
  }

  /** The rank of every node by its name, numbers within names by their value. */
  get nameRanks() {
    if (this.ranks) return this.ranks;
    const { nodes } = this.report;
    this.ranks = new Uint32Array(nodes.n);
    if (nodes.ids || nodes.names) {
      const collator = new Intl.Collator("en", { numeric: true });
      const order = Uint32Array.from({ length: nodes.n }, (_, i) => i);
      const names = Array.from(order, (node) => nodeName(this.report, node));
      order.sort((a, b) => collator.compare(names[a], names[b]));
      order.forEach((node, rank) => (this.ranks[node] = rank));
    } else {
      for (let i = 0; i < nodes.n; i++) this.ranks[i] = i;
    }
    return this.ranks;
  }

  sort() {
    const { column, descending } = this.sorted;
    const { values, kind } = this.columns[column];
    const { suspect, measure } = this.report.links;
    let order = Uint32Array.from(values, (_, i) => i);
    if (byId("only-suspects").checked) order = order.filter((link) => suspect[link] !== 0);
    const ranks = kind === "name" ? this.nameRanks : null;
    const sign = descending ? -1 : 1;
    const key = ranks ? (link) => ranks[values[link]] : (link) => values[link];
    // Links stand by their measure already; ties keep that order.
    if (values !== measure || descending) order.sort((a, b) => sign * (key(a) - key(b)) || a - b);
    this.order = order;
    [...this.table.tHead.rows[0].cells].forEach((cell, i) => {
      if (i === column) cell.setAttribute("aria-sort", descending ? "descending" : "ascending");
      else cell.removeAttribute("aria-sort");
    });
    this.rows = 0;
    this.table.tBodies[0].replaceChildren();
    this.addRows();
  }

  addRows() {
    const to = Math.min(this.order.length, this.rows + ROWS_AT_ONCE);
    const made = [];
    for (; this.rows < to; this.rows++) made.push(this.row(this.order[this.rows]));
    this.table.tBodies[0].append(...made);
    byId("more-links").hidden = this.rows >= this.order.length;
    byId("table-status").textContent = `${count(this.rows)} of ${counted(this.order.length, "link")} listed`;
  }

  row(link) {
    const cells = this.columns.map(({ kind, values, words }) => {
      if (words) return element("td", { class: "words" }, words(link));
      if (kind === "name") {
        const name = nodeName(this.report, values[link]);
        return element("td", { class: "name", title: nodeTitle(this.report, values[link]) }, name);
      }
      if (kind === "mark") return element("td", { class: "number" }, ...(values[link] ? [element("span", { class: "suspect" }, "suspect")] : ["-"]));
      return element("td", { class: "number" }, figure(values[link]));
    });
    const ends = `${nodeName(this.report, this.report.links.src[link])} to ${nodeName(this.report, this.report.links.dst[link])}`;
    const show = element("button", { type: "button", class: "text", "aria-label": `Show the link from ${ends}` }, "Show");
    const made = element("tr", {}, ...cells, element("td", {}, show));
    made.addEventListener("click", () => {
      this.scatter.goToLink(link);
      this.scatter.stage.scrollIntoView({ block: "center" });
    });
    return made;
  }
}
