// The card of the node that is looked at: beside the node while the pointer or
// the keyboard is on it, in the corner once it is pinned.

/** Links on the card, once it is pinned and before. */
const CARD_LINKS = { docked: 6, passing: 3 };

class NodeCard {
  constructor(scatter) {
    this.scatter = scatter;
    this.report = scatter.report;
    this.card = byId("card");
    scatter.addEventListener("look", () => this.fill());
    scatter.addEventListener("frame", () => this.place());
    this.fill();
  }

  /** The pointer goes before the pin, so that others can be looked at meanwhile. */
  fill() {
    const { scatter, card } = this;
    const node = scatter.hovered >= 0 ? scatter.hovered : scatter.pinned;
    this.node = node;
    card.hidden = node < 0 && scatter.link < 0;
    if (card.hidden) return;
    this.docked = node < 0 || node === scatter.pinned;
    card.classList.toggle("docked", this.docked);
    card.classList.toggle("left", this.docked && this.rightIsTaken(node));
    const content = node >= 0 ? this.nodeContent(node) : this.linkContent(scatter.link);
    card.replaceChildren(...content);
    if (this.docked) {
      card.style.left = card.style.top = "";
      const close = element("button", { type: "button", class: "close", "aria-label": "Close the card" }, "×");
      close.addEventListener("click", () => {
        scatter.pin(-1);
        scatter.canvas.focus({ preventScroll: true });
      });
      card.prepend(close);
    }
    this.place();
  }

  /** The card must not lie over the node, or over an end of the link. */
  rightIsTaken(node) {
    const { view, link, flight } = this.scatter;
    const { x, y } = this.report.nodes;
    if (node >= 0) return !flight && view.toScreen(x[node], y[node])[0] > 0.6 * view.width;
    const { src, dst } = this.report.links;
    return (x[dst[link]] - x[src[link]]) * (y[dst[link]] - y[src[link]]) > 0;
  }

  nodeContent(node) {
    const { nodes } = this.report;
    const rows = [];
    if (nodes.names?.[node]) rows.push(["id", nodeId(this.report, node)]);
    if (nodes.ids) rows.push(["row", count(node)]);
    if (nodes.view && nodes.views.length) rows.push(["view", nodes.views[nodes.view[node]] ?? "-"]);
    if (nodes.label) rows.push(["label", nodes.label[node] < 0 ? "none" : (nodes.labels[nodes.label[node]] ?? "-")]);
    if (nodes.cluster) rows.push(["cluster", nodes.cluster[node] < 0 ? "none" : String(nodes.cluster[node])]);
    if (nodes.degree) rows.push(["degree", count(nodes.degree[node])]);
    if (nodes.stability && !Number.isNaN(nodes.stability[node])) rows.push(["neighbours that stay", `${Math.round(100 * nodes.stability[node])}%`]);
    const facts = rows.flatMap(([name, value]) => [element("dt", {}, name), element("dd", {}, value)]);
    const content = [element("h3", {}, nodeName(this.report, node)), element("dl", {}, ...facts)];
    const links = this.scatter.nodeLinks.of(node);
    if (links.length) {
      content.push(element("p", { class: "card-title" }, `Least ${leastWord(this.report)} links`), this.linkList(node, links));
    }
    return content;
  }

  linkList(node, links) {
    const { src, dst, by, measure, suspect } = this.report.links;
    const most = this.docked ? CARD_LINKS.docked : CARD_LINKS.passing;
    const items = [...links.subarray(0, most)].map((link) => {
      const other = src[link] === node ? dst[link] : src[link];
      const to = element("button", { type: "button", class: "text" }, nodeName(this.report, other));
      to.addEventListener("click", () => this.scatter.goTo(other));
      const marks = suspect[link] ? [element("span", { class: "suspect" }, "suspect")] : [];
      return element("li", {}, to, element("span", { class: "trust" }, `${by} ${figure(measure[link])}`), ...marks);
    });
    // Of very many links the page does not hold all.
    const more = Math.max(links.length, this.report.nodes.degree[node]) - items.length;
    if (more > 0) items.push(element("li", { class: "hint" }, `and ${count(more)} more`));
    return element("ul", {}, ...items);
  }

  linkContent(link) {
    const { src, dst, weight, mu, trust, suspect, belief, why, spread } = this.report.links;
    const rows = [["weight", figure(weight[link])], ["expected", figure(mu[link])], ["trust", figure(trust[link])]];
    if (spread && !Number.isNaN(spread[link])) rows.push(["spread of log expected", figure(spread[link])]);
    if (belief) rows.push(["belief", figure(belief[link])], ["why", why[link]]);
    const facts = rows.flatMap(([name, value]) => [element("dt", {}, name), element("dd", {}, value)]);
    const ends = [src[link], dst[link]].map((node) => {
      const to = element("button", { type: "button", class: "text" }, nodeName(this.report, node));
      to.addEventListener("click", () => this.scatter.goTo(node));
      return element("li", {}, to);
    });
    const title = suspect[link] ? element("h3", {}, "Link ", element("span", { class: "suspect" }, "suspect")) : element("h3", {}, "Link");
    return [title, element("ul", {}, ...ends), element("dl", {}, ...facts)];
  }

  /** Beside the node, on the side with more room. */
  place() {
    const { scatter, card } = this;
    if (card.hidden || this.docked) return;
    const { view } = scatter;
    const { x, y } = this.report.nodes;
    const [left, top] = view.toScreen(x[this.node], y[this.node]);
    const { offsetWidth: width, offsetHeight: height } = card;
    const beside = left > view.width / 2 ? left - width - 18 : left + 18;
    card.style.left = `${Math.max(6, Math.min(view.width - width - 6, beside))}px`;
    const below = top + 18 + height < view.height ? top + 18 : top - height - 18;
    card.style.top = `${Math.max(6, Math.min(view.height - height - 6, below))}px`;
  }
}
