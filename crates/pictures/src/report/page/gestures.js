// Mouse, fingers and keys on the map.

const KEY_PAN = 60;
const KEY_ZOOM = 1.4;
/** A press that moves less than this many pixels is a click. */
const CLICK_SLACK = 5;
/** A wheel that scrolls the page goes on scrolling when it comes over the map. */
const SCROLL_GOES_ON = 250;

function attachGestures(scatter) {
  attachPointers(scatter);
  attachWheel(scatter);
  attachKeys(scatter);
}

function attachPointers(scatter) {
  const { canvas } = scatter;
  const held = new Map();
  let travelled = 0;
  const place = (event) => {
    const box = canvas.getBoundingClientRect();
    return { left: event.clientX - box.left, top: event.clientY - box.top };
  };

  canvas.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    canvas.setPointerCapture(event.pointerId);
    if (held.size === 0) travelled = 0;
    held.set(event.pointerId, place(event));
    scatter.byKeyboard = false;
  });

  canvas.addEventListener("pointermove", (event) => {
    const now = place(event);
    const before = held.get(event.pointerId);
    if (!before) {
      if (event.pointerType === "mouse") scatter.hover(scatter.nodeAt(now.left, now.top));
      return;
    }
    if (held.size === 1) {
      travelled += Math.hypot(now.left - before.left, now.top - before.top);
      if (travelled > CLICK_SLACK) {
        scatter.hover(-1);
        canvas.classList.add("dragging");
        scatter.panBy(now.left - before.left, now.top - before.top);
      }
    } else if (held.size === 2) {
      travelled = Infinity;
      const [other] = [...held].filter(([id]) => id !== event.pointerId).map(([, at]) => at);
      pinch(scatter, before, now, other);
    }
    held.set(event.pointerId, now);
  });

  const release = (event) => {
    if (!held.delete(event.pointerId)) return;
    canvas.classList.remove("dragging");
    if (event.type !== "pointerup" || held.size > 0 || travelled > CLICK_SLACK) return;
    const { left, top } = place(event);
    const reach = event.pointerType === "mouse" ? REACH : 2 * REACH;
    scatter.pin(scatter.nodeAt(left, top, reach));
  };
  canvas.addEventListener("pointerup", release);
  canvas.addEventListener("pointercancel", release);
  canvas.addEventListener("pointerleave", () => {
    if (!scatter.byKeyboard) scatter.hover(-1);
  });
}

/** One finger moves while the other stays: pan by half, zoom about the middle. */
function pinch(scatter, before, now, other) {
  const apart = (at) => Math.max(1, Math.hypot(at.left - other.left, at.top - other.top));
  scatter.panBy((now.left - before.left) / 2, (now.top - before.top) / 2);
  scatter.zoomAt((now.left + other.left) / 2, (now.top + other.top) / 2, apart(now) / apart(before));
}

function attachWheel(scatter) {
  let scrolled = -Infinity;
  window.addEventListener("scroll", () => (scrolled = performance.now()), { passive: true });
  scatter.canvas.addEventListener(
    "wheel",
    (event) => {
      if (performance.now() - scrolled < SCROLL_GOES_ON) return;
      event.preventDefault();
      const box = scatter.canvas.getBoundingClientRect();
      const lines = event.deltaMode === 1 ? 18 : 1;
      // A pinch on a touchpad comes as a wheel with ctrl and small steps.
      const speed = event.ctrlKey ? 0.01 : 0.0016;
      const step = Math.max(-300, Math.min(300, event.deltaY * lines));
      scatter.zoomAt(event.clientX - box.left, event.clientY - box.top, Math.exp(-step * speed));
    },
    { passive: false },
  );
}

function attachKeys(scatter) {
  const { canvas, report } = scatter;
  const lookAtMiddle = () => {
    scatter.hover(scatter.nodeAt(scatter.view.width / 2, scatter.view.height / 2, 80));
  };
  const pan = (dx, dy) => {
    scatter.panBy(dx, dy);
    lookAtMiddle();
  };
  const zoom = (factor) => {
    scatter.zoomBy(factor);
    lookAtMiddle();
  };
  const step = (by) => {
    if (report.nodes.n === 0) return;
    const from = scatter.hovered >= 0 ? scatter.hovered : scatter.pinned >= 0 ? scatter.pinned : by > 0 ? -1 : 0;
    const node = (from + by + report.nodes.n) % report.nodes.n;
    scatter.hover(node);
    scatter.reveal(node);
  };
  const actions = {
    ArrowLeft: () => pan(KEY_PAN, 0),
    ArrowRight: () => pan(-KEY_PAN, 0),
    ArrowUp: () => pan(0, KEY_PAN),
    ArrowDown: () => pan(0, -KEY_PAN),
    "+": () => zoom(KEY_ZOOM),
    "=": () => zoom(KEY_ZOOM),
    "-": () => zoom(1 / KEY_ZOOM),
    0: () => scatter.reset(),
    n: () => step(1),
    p: () => step(-1),
    Enter: () => scatter.pin(scatter.hovered),
    " ": () => scatter.pin(scatter.hovered),
    Escape: () => {
      scatter.hover(-1);
      scatter.pin(-1);
    },
  };
  canvas.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const action = actions[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (!action) return;
    event.preventDefault();
    scatter.byKeyboard = true;
    action();
  });
  canvas.addEventListener("focus", () => {
    if (!canvas.matches(":focus-visible")) return;
    scatter.byKeyboard = true;
    scatter.redraw();
  });
  canvas.addEventListener("blur", () => {
    scatter.byKeyboard = false;
    scatter.hover(-1);
    scatter.redraw();
  });
}
