// What lies over the map: the node or link that is looked at, with its links,
// and a cross in the middle while the keyboard leads.

/** A node of many links does not paint them all. */
const OVERLAY_LINKS = 400;

class Overlay {
  constructor(canvas, report) {
    this.canvas = canvas;
    this.context = canvas.getContext("2d");
    this.report = report;
  }

  resize(width, height) {
    Object.assign(this.canvas, { width, height });
  }

  /**
   * `focus.nodes` are nodes with their links, `focus.link` is a link or -1,
   * `focus.colourOf` gives a node's colour.
   */
  draw(view, surface, focus) {
    const { context } = this;
    context.setTransform(view.ratio, 0, 0, view.ratio, 0, 0);
    context.clearRect(0, 0, view.width, view.height);
    if (focus.cross) this.cross(view, surface);
    for (const node of focus.nodes) this.linksOf(view, surface, node.links);
    if (focus.link >= 0) this.link(view, surface, focus.link, 3);
    const ends = focus.link >= 0 ? [this.report.links.src[focus.link], this.report.links.dst[focus.link]] : [];
    for (const node of ends) this.ring(view, surface, node, 8, focus.colourOf(node));
    for (const node of focus.nodes) this.ring(view, surface, node.node, node.pinned ? 9 : 8, focus.colourOf(node.node));
  }

  at(view, node) {
    return view.toScreen(this.report.nodes.x[node], this.report.nodes.y[node]);
  }

  linksOf(view, surface, links) {
    const { suspect } = this.report.links;
    // Suspects last: they come first in the list and would be painted over.
    const shown = [...links.subarray(0, OVERLAY_LINKS)].sort((a, b) => suspect[a] - suspect[b]);
    for (const link of shown) this.link(view, surface, link, suspect[link] ? 1.8 : 1);
  }

  link(view, surface, link, width) {
    const { context } = this;
    const { src, dst, suspect } = this.report.links;
    context.strokeStyle = suspect[link] ? surface.suspect : surface.ink;
    context.globalAlpha = suspect[link] || width > 2 ? 0.9 : 0.45;
    context.lineWidth = width;
    context.beginPath();
    context.moveTo(...this.at(view, src[link]));
    context.lineTo(...this.at(view, dst[link]));
    context.stroke();
    context.globalAlpha = 1;
  }

  /** The node in a ring, and its name in letters that stand out from anything. */
  ring(view, surface, node, radius, fill) {
    const { context } = this;
    const [left, top] = this.at(view, node);
    for (const [colour, size] of [[surface.background, radius + 3], [surface.ink, radius + 1], [surface.background, radius - 1], [fill, radius - 3]]) {
      context.fillStyle = colour;
      context.beginPath();
      context.arc(left, top, size, 0, 2 * Math.PI);
      context.fill();
    }
    const full = nodeName(this.report, node);
    const name = full.length > 40 ? `${full.slice(0, 39)}…` : full;
    context.font = "600 12px system-ui, sans-serif";
    context.textBaseline = "middle";
    const width = context.measureText(name).width;
    const fits = left + radius + 6 + width < view.width;
    context.textAlign = fits ? "left" : "right";
    const start = fits ? left + radius + 6 : left - radius - 6;
    context.lineJoin = "round";
    context.strokeStyle = surface.background;
    context.lineWidth = 4;
    context.strokeText(name, start, top);
    context.fillStyle = surface.ink;
    context.fillText(name, start, top);
  }

  cross(view, surface) {
    const { context } = this;
    const [left, top] = [view.width / 2, view.height / 2];
    context.strokeStyle = surface.ink;
    context.globalAlpha = 0.5;
    context.lineWidth = 1;
    context.beginPath();
    for (const [x, y] of [[1, 0], [-1, 0], [0, 1], [0, -1]]) {
      context.moveTo(left + 6 * x, top + 6 * y);
      context.lineTo(left + 14 * x, top + 14 * y);
    }
    context.stroke();
    context.globalAlpha = 1;
  }
}
