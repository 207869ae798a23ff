// Draws nodes and links with WebGL. Buffers are filled once; a movement changes
// two uniforms.

/** Up to this many nodes and links are drawn anew in every frame. */
const DIRECT = { card: { nodes: 20000, links: 20000 }, software: { nodes: 8000, links: 2500 } };
/** Steps aside, in pixels of the screen, that make a suspect's line wider without gaps. */
const WIDE_STEPS = [[0, 0], [1, 0], [0, 1], [-1, 0], [0, -1]];
const MANY_SUSPECTS = 400;
/** Milliseconds after which a growing picture is shown again. */
const PAINT_AGAIN = 250;

/** Whether WebGL is computed on the processor; asked of a context of its own. */
function drawsInSoftware() {
  const gl = document.createElement("canvas").getContext("webgl2");
  if (!gl) return false;
  const extension = gl.getExtension("WEBGL_debug_renderer_info");
  const name = String(gl.getParameter(extension ? extension.UNMASKED_RENDERER_WEBGL : gl.RENDERER));
  gl.getExtension("WEBGL_lose_context")?.loseContext();
  return /swiftshader|llvmpipe|softpipe|software|basic render/i.test(name);
}

class WebglRenderer {
  /** Null where WebGL 2 is missing. */
  static on(canvas, report, filter) {
    const software = drawsInSoftware();
    // Smooth edges cost little on a graphics card, and most of the time without.
    const gl = canvas.getContext("webgl2", { alpha: false, depth: false, stencil: false, antialias: !software, powerPreference: "high-performance" });
    return gl ? new WebglRenderer(gl, report, filter, software ? DIRECT.software : DIRECT.card) : null;
  }

  constructor(gl, report, filter, direct) {
    this.kind = "webgl";
    this.gl = gl;
    this.n = report.nodes.n;
    this.filter = filter;
    this.direct = direct;
    this.points = twgl.createProgramInfo(gl, [POINT_VERTEX, POINT_FRAGMENT]);
    this.lines = twgl.createProgramInfo(gl, [LINE_VERTEX, FLAT_FRAGMENT]);
    this.nodeBuffers = twgl.createBufferInfoFromArrays(gl, {
      x: { numComponents: 1, data: report.nodes.x },
      y: { numComponents: 1, data: report.nodes.y },
      category: { numComponents: 1, data: new Uint8Array(this.n), normalize: false },
    });
    this.buffers = {
      ordinary: this.lineBuffers(report, filter.groups.ordinary.links),
      suspect: this.lineBuffers(report, filter.groups.suspect.links),
    };
    this.linkLayer = new PictureLayer(gl, (view, style, from, to) => this.drawLinks(view, style, from, to));
    this.nodeLayer = new PictureLayer(gl, (view, style, from, to) => this.drawNodes(view, style, from, to));
    this.changes = 0;
    gl.disable(gl.DEPTH_TEST);
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
  }

  /** Both ends of each link, one after the other. */
  lineBuffers(report, links) {
    const { x, y } = report.nodes;
    const { src, dst } = report.links;
    const ends = new Float32Array(4 * links.length);
    for (let i = 0; i < links.length; i++) {
      const from = src[links[i]];
      const to = dst[links[i]];
      ends[4 * i] = x[from];
      ends[4 * i + 1] = y[from];
      ends[4 * i + 2] = x[to];
      ends[4 * i + 3] = y[to];
    }
    return twgl.createBufferInfoFromArrays(this.gl, { position: { numComponents: 2, data: ends } });
  }

  setCategories(places) {
    twgl.setAttribInfoBufferFromArray(this.gl, this.nodeBuffers.attribs.category, places);
    this.changes++;
  }

  /** Colours as `paletteColours` gives them, and those of the surface. */
  setColours(palette, surface) {
    this.palette = new Float32Array(4 * PALETTE_SIZE);
    palette.forEach(({ colour, dimmed }, i) => this.palette.set([...channels(colour), dimmed ? 0 : 1], 4 * i));
    this.anyDimmed = palette.some((one) => one.dimmed);
    this.surface = surface;
    this.background = channels(surface.background);
    this.changes++;
  }

  resize(width, height) {
    Object.assign(this.gl.canvas, { width, height });
  }

  /** Draws; true when nothing is left to be drawn for this view. */
  render(view, moving) {
    const links = this.linkStyle(view);
    const nodes = this.nodeStyle();
    if (!moving && this.onlyLinksGrow(view, links, nodes)) {
      this.linkLayer.grow(moving);
      return false;
    }
    this.clear();
    let complete = true;
    if (links.total > this.direct.links) complete = this.linkLayer.draw(view, links, moving);
    else this.drawLinks(view, links, 0, links.total);
    if (this.n > this.direct.nodes) complete = this.nodeLayer.draw(view, nodes, moving) && complete;
    else this.drawNodes(view, nodes, 0, nodes.total);
    return complete;
  }

  /**
   * Whether all that has changed since the canvas was painted is that the
   * picture of the links has grown: that is worth a look a few times a second.
   */
  onlyLinksGrow(view, links, nodes) {
    const key = [view.x, view.y, view.scale, view.width, view.height, view.ratio, links.key, nodes.key].join();
    const now = performance.now();
    const same = key === this.painted?.key && now - this.painted.time < PAINT_AGAIN;
    const { growing } = this.linkLayer;
    if (same && growing && growing.key === links.key && !this.nodeLayer.growing) return true;
    this.painted = { key, time: now };
    return false;
  }

  /** Draws all at once, for a picture that is taken right after. */
  renderFully(view) {
    this.clear();
    const links = this.linkStyle(view);
    this.drawLinks(view, links, 0, links.total);
    const nodes = this.nodeStyle();
    this.drawNodes(view, nodes, 0, nodes.total);
  }

  clear() {
    const { gl } = this;
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    gl.viewport(0, 0, gl.drawingBufferWidth, gl.drawingBufferHeight);
    gl.clearColor(...this.background, 1);
    gl.clear(gl.COLOR_BUFFER_BIT);
  }

  /** Which links, in which colours; the more there are the fainter. */
  linkStyle(view) {
    const ordinary = this.filter.range("ordinary");
    const suspect = this.filter.range("suspect");
    const drawn = ordinary[1] - ordinary[0];
    const suspects = suspect[1] - suspect[0];
    const width = suspects > MANY_SUSPECTS ? 1 : view.ratio > 1.4 ? 5 : 3;
    const { lengths } = this.filter;
    const faint = lineOpacity("ordinary", drawn, lengths.ordinary, view);
    const strong = lineOpacity("suspect", suspects, lengths.suspect, view, width);
    const steps = WIDE_STEPS.slice(0, width);
    const key = [ordinary, suspect, this.surface.background].join();
    return { ordinary, suspect, faint, strong, steps, key, total: drawn + suspects };
  }

  /** Where some are dimmed the others are drawn once more, on top. */
  nodeStyle() {
    return { total: this.n * (this.anyDimmed ? 2 : 1), key: String(this.changes) };
  }

  uniforms(view) {
    return { centre: [view.x, view.y], zoom: [(2 * view.scale) / view.width, (2 * view.scale) / view.height] };
  }

  /** The links from one position to another: ordinary ones first, then suspects on top. */
  drawLinks(view, style, from, to) {
    const ordinary = style.ordinary[1] - style.ordinary[0];
    if (from < ordinary) {
      const [first, last] = [style.ordinary[0] + from, style.ordinary[0] + Math.min(to, ordinary)];
      this.drawLines(view, this.buffers.ordinary, first, last, this.surface.link, style.faint, WIDE_STEPS.slice(0, 1));
    }
    if (to > ordinary) {
      const before = style.suspect[0] - ordinary;
      this.drawLines(view, this.buffers.suspect, before + Math.max(from, ordinary), before + to, this.surface.suspect, style.strong, style.steps);
    }
  }

  drawLines(view, buffers, first, last, colour, opacity, steps) {
    const { gl } = this;
    gl.useProgram(this.lines.program);
    twgl.setBuffersAndAttributes(gl, this.lines, buffers);
    twgl.setUniforms(this.lines, { ...this.uniforms(view), colour: [...channels(colour).map((one) => one * opacity), opacity] });
    for (const [x, y] of steps) {
      twgl.setUniforms(this.lines, { aside: [(2 * x) / (view.width * view.ratio), (2 * y) / (view.height * view.ratio)] });
      twgl.drawBufferInfo(gl, buffers, gl.LINES, 2 * (last - first), 2 * first);
    }
  }

  /** The nodes from one position to another; positions beyond the last node are the second time. */
  drawNodes(view, style, from, to) {
    const { gl, n } = this;
    const size = pointSize(n, view.zoom) * view.ratio;
    gl.useProgram(this.points.program);
    twgl.setBuffersAndAttributes(gl, this.points, this.nodeBuffers);
    twgl.setUniforms(this.points, {
      ...this.uniforms(view), size, palette: this.palette, background: this.background,
      rim: size > 5 * view.ratio ? 0.75 * view.ratio : 0,
    });
    const twice = style.total > n;
    const passes = [{ pass: twice ? 1 : 0, first: from, last: Math.min(to, n) }, { pass: 2, first: Math.max(from, n) - n, last: to - n }];
    for (const { pass, first, last } of passes) {
      if (last <= first) continue;
      twgl.setUniforms(this.points, { pass });
      twgl.drawBufferInfo(gl, this.nodeBuffers, gl.POINTS, last - first, first);
    }
  }
}

/** The diameter of a node: smaller where there are many, larger from close by. */
function pointSize(n, zoom) {
  const base = Math.min(10, Math.max(2.5, 14.5 - 2.4 * Math.log10(n + 1)));
  return Math.min(Math.max(base, 14), base * Math.max(1, zoom) ** 0.35);
}
