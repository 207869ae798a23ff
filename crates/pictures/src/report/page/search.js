// Finding a node by its name or its id: a few suggestions at a time, however many nodes.

const SUGGESTIONS = 8;
/** Counting further matches than this tells nobody anything. */
const COUNTED_MATCHES = 1000;

/** Names and ids in small letters, made when the search is first used. */
class NodeIndex {
  constructor(report) {
    this.report = report;
  }

  made(how) {
    return Array.from({ length: this.report.nodes.n }, (_, i) => how(this.report, i).toLowerCase());
  }

  get names() {
    this.madeNames ??= this.made(nodeName);
    return this.madeNames;
  }

  /** The same as names where nodes have none beside their ids. */
  get ids() {
    this.madeIds ??= this.report.nodes.names ? this.made(nodeId) : this.names;
    return this.madeIds;
  }

  /** How well a node matches: 0 the same, 1 begins so, 2 contains it, 3 not at all. */
  static match(text, wanted) {
    const at = text.indexOf(wanted);
    if (at < 0) return 3;
    return at > 0 ? 2 : text.length === wanted.length ? 0 : 1;
  }

  /** The same name or id first, then those that begin so, then those that contain it. */
  find(text) {
    const wanted = text.trim().toLowerCase();
    if (!wanted) return { nodes: [], matches: 0 };
    const found = [[], [], []];
    let matches = 0;
    const { names, ids } = this;
    for (let i = 0; i < names.length && matches < COUNTED_MATCHES; i++) {
      const how = Math.min(NodeIndex.match(names[i], wanted), NodeIndex.match(ids[i], wanted));
      if (how > 2) continue;
      matches++;
      if (found[how].length < SUGGESTIONS) found[how].push(i);
    }
    // What equals the text must not be lost among a thousand that contain it.
    if (found[0].length === 0) {
      const exact = [names.indexOf(wanted), ids.indexOf(wanted)].find((node) => node >= 0);
      if (exact !== undefined) found[0].push(exact);
    }
    return { nodes: found.flat().slice(0, SUGGESTIONS), matches };
  }
}

function attachSearch(scatter) {
  const { report } = scatter;
  const index = new NodeIndex(report);
  const input = byId("search");
  const list = byId("suggestions");
  const status = byId("search-status");
  let found = [];
  let active = -1;

  const close = () => {
    list.hidden = true;
    input.setAttribute("aria-expanded", "false");
    input.removeAttribute("aria-activedescendant");
    active = -1;
  };

  const go = (node) => {
    close();
    input.value = nodeName(report, node);
    scatter.goTo(node);
    status.textContent = `Shown: ${nodeTitle(report, node)}`;
    scatter.stage.scrollIntoView({ block: "nearest" });
  };

  const mark = (at) => {
    active = at;
    [...list.children].forEach((one, i) => one.setAttribute("aria-selected", String(i === at)));
    if (at >= 0) input.setAttribute("aria-activedescendant", list.children[at].id);
  };

  const suggest = () => {
    const { nodes, matches } = index.find(input.value);
    found = nodes;
    list.replaceChildren(
      ...nodes.map((node, i) => {
        const option = element("li", { role: "option", id: `suggestion-${i}`, "aria-selected": "false" }, nodeTitle(report, node));
        // Before the field loses the focus.
        option.addEventListener("pointerdown", (event) => {
          event.preventDefault();
          go(node);
        });
        return option;
      }),
    );
    list.hidden = nodes.length === 0;
    input.setAttribute("aria-expanded", String(nodes.length > 0));
    active = -1;
    input.removeAttribute("aria-activedescendant");
    const many = matches >= COUNTED_MATCHES ? `${count(COUNTED_MATCHES)} or more nodes match` : `${counted(matches, "node")} match${matches === 1 ? "es" : ""}`;
    status.textContent = !input.value.trim() ? "" : matches === 0 && found.length === 0 ? "No node matches" : many;
  };

  input.addEventListener("input", suggest);
  input.addEventListener("blur", close);
  input.addEventListener("keydown", (event) => {
    if (event.key === "Enter") {
      if (found.length === 0) suggest();
      if (found.length) go(found[Math.max(0, active)]);
      event.preventDefault();
    } else if (event.key === "Escape") {
      if (!list.hidden) event.preventDefault();
      close();
    } else if ((event.key === "ArrowDown" || event.key === "ArrowUp") && found.length) {
      if (list.hidden) suggest();
      const by = event.key === "ArrowDown" ? 1 : -1;
      mark((Math.max(-1, active) + by + found.length + (active < 0 && by < 0 ? 1 : 0)) % found.length);
      event.preventDefault();
    }
  });
}
