// The part of the plane that is seen: its centre, and CSS pixels per unit.

class Viewport {
  constructor() {
    this.width = 1;
    this.height = 1;
    this.x = 0;
    this.y = 0;
    this.scale = 1;
    this.home = { x: 0, y: 0, scale: 1 };
  }

  /** A new size keeps the centre, and what was fitted stays fitted. */
  resize(width, height) {
    const atHome = this.isHome();
    const ratio = this.extent ? this.homeScale(width, height) / this.home.scale : 1;
    this.width = width;
    this.height = height;
    if (!this.extent) return;
    this.home.scale *= ratio;
    this.scale = atHome ? this.home.scale : this.scale * ratio;
  }

  isHome() {
    return this.x === this.home.x && this.y === this.home.y && this.scale === this.home.scale;
  }

  homeScale(width, height) {
    const { left, right, bottom, top } = this.extent;
    return 0.92 * Math.min(width / (right - left), height / (top - bottom));
  }

  /** What `0` shows. */
  setHome(extent) {
    this.extent = extent;
    this.home = {
      x: (extent.left + extent.right) / 2,
      y: (extent.bottom + extent.top) / 2,
      scale: this.homeScale(this.width, this.height),
    };
    this.reset();
  }

  reset() {
    Object.assign(this, this.home);
  }

  /** How much larger than at home. */
  get zoom() {
    return this.scale / this.home.scale;
  }

  toScreen(x, y) {
    return [this.width / 2 + (x - this.x) * this.scale, this.height / 2 - (y - this.y) * this.scale];
  }

  toPlane(left, top) {
    return [this.x + (left - this.width / 2) / this.scale, this.y - (top - this.height / 2) / this.scale];
  }

  panBy(dx, dy) {
    this.x -= dx / this.scale;
    this.y += dy / this.scale;
  }

  /** A scale that single precision still draws well, and not too far out. */
  clampScale(scale) {
    return Math.min(this.home.scale * 4000, Math.max(this.home.scale * 0.1, scale));
  }

  /** Zooms so that the point under the pointer stays there. */
  zoomAt(left, top, factor) {
    const [x, y] = this.toPlane(left, top);
    this.scale = this.clampScale(this.scale * factor);
    this.x = x - (left - this.width / 2) / this.scale;
    this.y = y + (top - this.height / 2) / this.scale;
  }

  /** Centre and scale that show two points with room around them. */
  around(x0, y0, x1, y1) {
    const width = Math.max(Math.abs(x1 - x0), 1e-9);
    const height = Math.max(Math.abs(y1 - y0), 1e-9);
    const scale = 0.5 * Math.min(this.width / width, this.height / height);
    const x = (x0 + x1) / 2;
    const y = (y0 + y1) / 2;
    return { x, y, scale: this.clampScale(Math.min(scale, this.home.scale * 60)) };
  }

  /** A copy of centre and scale. */
  get place() {
    return { x: this.x, y: this.y, scale: this.scale };
  }
}

/**
 * What is seen at first: all nodes, unless a few lie far outside, which would
 * press the others into a corner.
 */
function firstExtent(nodes) {
  const limit = 1.4;
  const extent = { left: Infinity, right: -Infinity, bottom: Infinity, top: -Infinity };
  for (let i = 0; i < nodes.n; i++) {
    const x = nodes.x[i];
    const y = nodes.y[i];
    if (Math.abs(x) > limit || Math.abs(y) > limit) continue;
    if (x < extent.left) extent.left = x;
    if (x > extent.right) extent.right = x;
    if (y < extent.bottom) extent.bottom = y;
    if (y > extent.top) extent.top = y;
  }
  if (!(extent.right > extent.left)) [extent.left, extent.right] = [-1, 1];
  if (!(extent.top > extent.bottom)) [extent.bottom, extent.top] = [-1, 1];
  return extent;
}

/** How many nodes lie outside. */
function countOutside(nodes, extent) {
  let outside = 0;
  for (let i = 0; i < nodes.n; i++) {
    const inside = nodes.x[i] >= extent.left && nodes.x[i] <= extent.right && nodes.y[i] >= extent.bottom && nodes.y[i] <= extent.top;
    if (!inside) outside++;
  }
  return outside;
}
