// Draws without WebGL, on a plain canvas: slower, so that links are a sample
// while the view moves and never more than a limit.

const CANVAS_LINKS = 20000;
const CANVAS_LINKS_MOVING = 1500;

class CanvasRenderer {
  constructor(canvas, report, filter) {
    this.kind = "canvas";
    this.canvas = canvas;
    this.context = canvas.getContext("2d", { alpha: false });
    this.report = report;
    this.filter = filter;
    this.places = new Uint8Array(report.nodes.n);
  }

  setCategories(places) {
    this.places = places;
  }

  setColours(palette, surface) {
    this.palette = palette;
    this.surface = surface;
  }

  resize(width, height) {
    Object.assign(this.canvas, { width, height });
  }

  render(view, moving) {
    const { context } = this;
    context.setTransform(view.ratio, 0, 0, view.ratio, 0, 0);
    context.fillStyle = this.surface.background;
    context.fillRect(0, 0, view.width, view.height);
    const limit = moving ? CANVAS_LINKS_MOVING : CANVAS_LINKS;
    this.drawLinks(view, "ordinary", this.surface.link, 0.8, limit);
    this.drawLinks(view, "suspect", this.surface.suspect, 1.4, limit);
    this.drawNodes(view);
    context.globalAlpha = 1;
    return !moving;
  }

  renderFully(view) {
    this.render(view, false);
  }

  drawLinks(view, kind, colour, width, limit) {
    const { context } = this;
    const { x, y } = this.report.nodes;
    const { src, dst } = this.report.links;
    const { links } = this.filter.groups[kind];
    const [from, to] = this.filter.range(kind);
    const step = Math.max(1, (to - from) / limit);
    context.globalAlpha = lineOpacity(kind, Math.min(to - from, limit), this.filter.lengths[kind], view, width);
    context.strokeStyle = colour;
    context.lineWidth = width;
    context.beginPath();
    for (let at = from; at < to; at += step) {
      const link = links[Math.floor(at)];
      context.moveTo(...view.toScreen(x[src[link]], y[src[link]]));
      context.lineTo(...view.toScreen(x[dst[link]], y[dst[link]]));
    }
    context.stroke();
  }

  /** Category by category, the dimmed ones first: changing the colour is slow. */
  drawNodes(view) {
    const { context } = this;
    const { x, y, n } = this.report.nodes;
    const size = pointSize(n, view.zoom);
    const discs = n <= 5000;
    context.globalAlpha = 1;
    const order = this.palette.map((one, place) => ({ ...one, place })).sort((a, b) => Number(b.dimmed) - Number(a.dimmed));
    for (const { colour, place } of order) {
      context.fillStyle = colour;
      context.beginPath();
      for (let i = 0; i < n; i++) {
        if (this.places[i] !== place) continue;
        const left = view.width / 2 + (x[i] - view.x) * view.scale;
        const top = view.height / 2 - (y[i] - view.y) * view.scale;
        if (left < -size || top < -size || left > view.width + size || top > view.height + size) continue;
        if (discs) {
          context.moveTo(left + size / 2, top);
          context.arc(left, top, size / 2, 0, 2 * Math.PI);
        } else {
          context.fillRect(left - size / 2, top - size / 2, size, size);
        }
      }
      if (discs) context.fill();
    }
  }
}
