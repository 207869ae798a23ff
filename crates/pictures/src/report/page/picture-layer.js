// Nodes and links by the hundred thousand cannot be drawn anew in every frame on
// every machine. They are drawn into a picture instead, in portions, and while
// the view moves the last picture moves with it. Where the machine is fast
// enough the picture is renewed also during the movement.

/** The picture is larger than the canvas, so that panning finds something. */
const PICTURE_MARGIN = 1.3;
/** Milliseconds that a portion may take, and a picture while the view moves. */
const PORTION_TIME = 24;
const FAST_PICTURE = 400;
const SMALLEST_PORTION = 2000;

class PictureLayer {
  constructor(gl, pen) {
    this.gl = gl;
    this.pen = pen;
    this.program = twgl.createProgramInfo(gl, [PICTURE_VERTEX, PICTURE_FRAGMENT]);
    this.quad = twgl.createBufferInfoFromArrays(gl, {
      corner: { numComponents: 2, data: new Float32Array([-1, -1, 1, -1, -1, 1, 1, 1]) },
    });
    this.attachments = [{ format: gl.RGBA, type: gl.UNSIGNED_BYTE, min: gl.LINEAR, mag: gl.LINEAR, wrap: gl.CLAMP_TO_EDGE }];
    this.shown = null; // the last complete picture
    this.growing = null; // the one that is being drawn
    this.spare = null;
    this.portion = 8000;
    this.pictureTime = Infinity;
  }

  /** Draws the picture for this view as far as it is; true when it is complete and sharp. */
  draw(view, style, moving) {
    const stale = !this.shown || !this.fits(this.shown, view, style);
    if (this.growing && this.growing.key !== style.key) this.drop();
    if (this.growing && !moving && !this.fits(this.growing, view, style)) this.drop();
    const start = stale && (!moving || (this.pictureTime < FAST_PICTURE && this.isWorn(view)));
    if (!this.growing && start) this.growing = this.begin(view, style);
    if (this.growing) this.grow(moving);
    // What is there of the first picture is better than nothing.
    const shown = this.shown && this.shown.key === style.key ? this.shown : (this.growing ?? this.shown);
    if (shown) this.put(shown, view);
    return !this.growing && Boolean(this.shown) && this.fits(this.shown, view, style);
  }

  fits(picture, view, style) {
    const { place } = picture;
    const same = place.x === view.x && place.y === view.y && place.scale === view.scale;
    return same && picture.key === style.key && picture.width === view.width && picture.height === view.height;
  }

  /** Whether the picture no longer does during a movement: too coarse, or too small. */
  isWorn(view) {
    if (!this.shown) return true;
    const { wide } = this.shown;
    const stretch = view.scale / wide.scale;
    const besides = (from, to, wideSide, side) => Math.abs(from - to) * view.scale > (wideSide * stretch - side) / 2;
    const tooSmall = besides(wide.x, view.x, wide.width, view.width) || besides(wide.y, view.y, wide.height, view.height);
    return tooSmall || stretch > 1.2 || stretch < 0.8;
  }

  drop() {
    if (this.growing.fence) this.gl.deleteSync(this.growing.fence);
    this.spare = this.growing.target;
    this.growing = null;
  }

  begin(view, style) {
    const { gl } = this;
    const width = Math.round(view.width * PICTURE_MARGIN * view.ratio);
    const height = Math.round(view.height * PICTURE_MARGIN * view.ratio);
    let target = this.spare;
    this.spare = null;
    if (!target) target = twgl.createFramebufferInfo(gl, this.attachments, width, height);
    else if (target.width !== width || target.height !== height) twgl.resizeFramebufferInfo(gl, target, this.attachments, width, height);
    twgl.bindFramebufferInfo(gl, target);
    gl.clearColor(0, 0, 0, 0);
    gl.clear(gl.COLOR_BUFFER_BIT);
    const wide = { x: view.x, y: view.y, scale: view.scale, zoom: view.zoom, width: width / view.ratio, height: height / view.ratio, ratio: view.ratio };
    const place = { x: view.x, y: view.y, scale: view.scale };
    return {
      target, wide, place, style, key: style.key, width: view.width, height: view.height,
      done: 0, fence: null, started: performance.now(), asked: 0,
    };
  }

  /** One more portion, once the one before is done; portions adapt to the machine. */
  grow(moving) {
    const { gl, growing } = this;
    if (growing.fence) {
      if (gl.getSyncParameter(growing.fence, gl.SYNC_STATUS) !== gl.SIGNALED) return;
      gl.deleteSync(growing.fence);
      growing.fence = null;
      const time = performance.now() - growing.asked;
      if (time < PORTION_TIME) this.portion *= 2;
      else if (time > 2 * PORTION_TIME) this.portion = Math.max(SMALLEST_PORTION, this.portion / 2);
      if (growing.done >= growing.style.total) {
        this.pictureTime = performance.now() - growing.started;
        if (this.shown) this.spare = this.shown.target;
        this.shown = growing;
        this.growing = null;
        return;
      }
    }
    // A movement goes before: it leaves less time for the picture.
    const portion = Math.round(moving ? this.portion / 4 : this.portion);
    const to = Math.min(growing.style.total, growing.done + portion);
    twgl.bindFramebufferInfo(gl, growing.target);
    this.pen(growing.wide, growing.style, growing.done, to);
    growing.done = to;
    growing.fence = gl.fenceSync(gl.SYNC_GPU_COMMANDS_COMPLETE, 0);
    growing.asked = performance.now();
    gl.flush();
  }

  /** Puts a picture where its nodes and links are now. */
  put(picture, view) {
    const { gl } = this;
    const { wide } = picture;
    const stretch = view.scale / wide.scale;
    // A picture that is only shifted goes to whole pixels: sharper, and quicker.
    const shifted = stretch === 1;
    const whole = (pixels) => (shifted ? Math.round(pixels * view.ratio) / view.ratio : pixels);
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    gl.viewport(0, 0, gl.drawingBufferWidth, gl.drawingBufferHeight);
    gl.useProgram(this.program.program);
    twgl.setBuffersAndAttributes(gl, this.program, this.quad);
    twgl.setUniforms(this.program, {
      picture: picture.target.attachments[0],
      middle: [(whole((wide.x - view.x) * view.scale) * 2) / view.width, (whole((wide.y - view.y) * view.scale) * 2) / view.height],
      extent: [(wide.width / view.width) * stretch, (wide.height / view.height) * stretch],
    });
    const filter = shifted ? gl.NEAREST : gl.LINEAR;
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, filter);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MAG_FILTER, filter);
    twgl.drawBufferInfo(gl, this.quad, gl.TRIANGLE_STRIP);
  }
}
