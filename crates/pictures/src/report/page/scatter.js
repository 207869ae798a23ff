// The map: the view, what is looked at, and the frames in which both are drawn.

/** Milliseconds after the last movement at which the view counts as at rest. */
const REST_AFTER = 140;
const FLIGHT_TIME = 350;
/** Pixels around the pointer within which a node is found. */
const REACH = 12;

class Scatter extends EventTarget {
  constructor(report, filter, parts) {
    super();
    this.report = report;
    this.filter = filter;
    this.stage = parts.stage;
    this.canvas = parts.canvas;
    this.overlay = new Overlay(parts.overlay, report);
    this.view = new Viewport();
    this.view.ratio = 1;
    this.extent = firstExtent(report.nodes);
    this.grid = new NodeGrid(report.nodes, this.extent);
    this.frames = 0;
    this.hovered = -1;
    this.pinned = -1;
    this.link = -1;
    this.byKeyboard = false;
    this.lastMove = -Infinity;
    this.complete = false;
    this.theme = "light";
    this.makeRenderer();
    this.measure();
    this.view.setHome(this.extent);
    new ResizeObserver(() => this.measure()).observe(this.stage);
  }

  makeRenderer() {
    this.renderer = WebglRenderer.on(this.canvas, this.report, this.filter) ?? new CanvasRenderer(this.canvas, this.report, this.filter);
    this.canvas.addEventListener("webglcontextlost", (event) => event.preventDefault());
    this.canvas.addEventListener("webglcontextrestored", () => {
      this.renderer = WebglRenderer.on(this.canvas, this.report, this.filter);
      this.renderer.setCategories(this.colours.places);
      this.setTheme(this.theme);
    });
  }

  measure() {
    const { clientWidth: width, clientHeight: height } = this.stage;
    const ratio = Math.min(2, window.devicePixelRatio || 1);
    if (width === 0 || (width === this.view.width && height === this.view.height && ratio === this.view.ratio)) return;
    this.view.resize(width, height);
    this.view.ratio = ratio;
    this.renderer.resize(Math.round(width * ratio), Math.round(height * ratio));
    this.overlay.resize(Math.round(width * ratio), Math.round(height * ratio));
    // A canvas of a new size is empty until it is drawn.
    if (this.surface) this.drawNow();
  }

  /** Links of each node, made when a node is first looked at. */
  get nodeLinks() {
    this.madeNodeLinks ??= new NodeLinks(this.report);
    return this.madeNodeLinks;
  }

  setColouring(colours, kept) {
    if (colours !== this.colours) this.renderer.setCategories(colours.places);
    this.colours = colours;
    this.kept = kept;
    this.setTheme(this.theme);
  }

  setTheme(theme) {
    this.theme = theme;
    this.surface = SURFACE[theme];
    if (this.colours) {
      this.palette = paletteColours(this.colours.entries, this.kept, theme);
      this.renderer.setColours(this.palette, this.surface);
    }
    this.redraw();
  }

  /** Asks for a frame. */
  redraw() {
    this.complete = false;
    if (this.asked) return;
    this.asked = true;
    requestAnimationFrame(() => {
      this.asked = false;
      this.drawNow();
    });
  }

  drawNow() {
    const now = performance.now();
    this.fly(now);
    const moving = now - this.lastMove < REST_AFTER;
    const complete = this.renderer.render(this.view, moving);
    this.overlay.draw(this.view, this.surface, this.focus());
    // When the map was first there, for those who measure.
    if (this.frames === 0) performance.mark("map");
    this.frames++;
    this.complete = complete && !this.flight;
    if (!this.complete) {
      this.redraw();
    }
    this.dispatchEvent(new Event("frame"));
  }

  focus() {
    const nodes = [];
    for (const node of new Set([this.pinned, this.hovered])) {
      if (node >= 0) nodes.push({ node, links: this.nodeLinks.of(node), pinned: node === this.pinned });
    }
    const colourOf = (node) => this.palette[this.colours.places[node]].colour;
    return { nodes, link: this.link, cross: this.byKeyboard, colourOf };
  }

  moved() {
    this.lastMove = performance.now();
    this.redraw();
  }

  panBy(dx, dy) {
    this.flight = null;
    this.view.panBy(dx, dy);
    this.moved();
  }

  zoomAt(left, top, factor) {
    this.flight = null;
    this.view.zoomAt(left, top, factor);
    this.moved();
  }

  zoomBy(factor) {
    this.zoomAt(this.view.width / 2, this.view.height / 2, factor);
  }

  reset() {
    this.flyTo(this.view.home);
  }

  /** Goes there, at once for those who want no motion. */
  flyTo(place) {
    const calm = window.matchMedia("(prefers-reduced-motion: reduce)").matches;
    this.flight = { from: this.view.place, to: { ...place }, start: performance.now(), time: calm ? 0 : FLIGHT_TIME };
    this.moved();
  }

  fly(now) {
    const { flight, view } = this;
    if (!flight) return;
    const done = flight.time === 0 ? 1 : Math.min(1, (now - flight.start) / flight.time);
    const eased = 1 - (1 - done) ** 3;
    const scale = flight.from.scale * (flight.to.scale / flight.from.scale) ** eased;
    // The centre moves with the scale, so that the goal comes straight closer.
    const span = 1 / flight.to.scale - 1 / flight.from.scale;
    const share = Math.abs(span) < 1e-12 ? eased : (1 / scale - 1 / flight.from.scale) / span;
    view.x = flight.from.x + (flight.to.x - flight.from.x) * share;
    view.y = flight.from.y + (flight.to.y - flight.from.y) * share;
    view.scale = scale;
    this.lastMove = now;
    if (done === 1) {
      Object.assign(view, flight.to);
      this.flight = null;
    }
  }

  /** The node at a place of the stage, or -1. */
  nodeAt(left, top, reach = REACH) {
    const [x, y] = this.view.toPlane(left, top);
    return this.grid.nearest(x, y, reach / this.view.scale);
  }

  hover(node) {
    if (node === this.hovered) return;
    this.hovered = node;
    this.looked();
  }

  pin(node) {
    this.pinned = node;
    this.link = -1;
    this.looked();
  }

  looked() {
    this.redraw();
    this.dispatchEvent(new Event("look"));
  }

  /** Goes to a node and pins it. */
  goTo(node) {
    const { x, y } = this.report.nodes;
    this.hovered = -1;
    const scale = this.view.clampScale(Math.max(this.view.scale, this.view.home.scale * 4));
    this.flyTo({ x: x[node], y: y[node], scale });
    this.pin(node);
  }

  /** Brings a node into view where it is not. */
  reveal(node) {
    const { x, y } = this.report.nodes;
    const [left, top] = this.view.toScreen(x[node], y[node]);
    const inside = left > 20 && top > 20 && left < this.view.width - 20 && top < this.view.height - 20;
    if (!inside) this.flyTo({ x: x[node], y: y[node], scale: this.view.scale });
  }

  goToLink(link) {
    const { x, y } = this.report.nodes;
    const { src, dst } = this.report.links;
    this.hovered = -1;
    this.pinned = -1;
    this.link = link;
    this.looked();
    this.flyTo(this.view.around(x[src[link]], y[src[link]], x[dst[link]], y[dst[link]]));
  }
}
