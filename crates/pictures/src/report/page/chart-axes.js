// Charts as SVG: scales, ticks and axes. A chart is drawn for the width that it
// has, so that its letters have one size on every screen.

/** The width of a chart on paper, where two stand side by side. */
const PAPER_CHART = 340;

/** Round values from `low` to `high`, about `wanted` of them. */
function roundTicks(low, high, wanted) {
  const span = high - low || Math.abs(high) || 1;
  const raw = span / Math.max(1, wanted);
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 2.5, 5, 10].map((one) => one * power).find((one) => one >= raw * 0.999);
  const ticks = [];
  for (let at = Math.ceil(low / step - 1e-9); at * step <= high + step * 1e-9; at++) {
    ticks.push(Number((at * step).toPrecision(12)));
  }
  return ticks;
}

/** Places values of [low, high] on [from, to]. */
function linearScale(low, high, from, to) {
  const span = high - low || 1;
  return (value) => from + ((value - low) / span) * (to - from);
}

/** The least and the largest of the values that are there, with a margin. */
function rangeOf(values, margin = 0.06) {
  const known = values.filter((one) => Number.isFinite(one));
  if (known.length === 0) return [0, 1];
  let low = Infinity;
  let high = -Infinity;
  for (const one of known) {
    low = Math.min(low, one);
    high = Math.max(high, one);
  }
  const room = (high - low || Math.abs(high) || 1) * margin;
  return [low - room, high + room];
}

/**
 * A figure that draws itself again when its width changes. `draw(width)` gives
 * the SVG.
 */
function chartFigure({ title, caption, key, values, draw }) {
  const holder = element("div", { class: "chart" });
  const parts = [element("h3", {}, title)];
  if (key) parts.push(key);
  parts.push(holder, element("figcaption", {}, caption));
  if (values) parts.push(values);
  let drawnFor = 0;
  const redraw = () => {
    const width = onPaper ? PAPER_CHART : Math.floor(holder.clientWidth);
    if (width < 50 || width === drawnFor) return;
    drawnFor = width;
    const picture = draw(width);
    picture.setAttribute("role", "img");
    picture.setAttribute("aria-label", `${title}. ${caption}`);
    holder.replaceChildren(picture);
  };
  new ResizeObserver(redraw).observe(holder);
  document.addEventListener("themechange", redraw);
  return element("figure", {}, ...parts);
}

/** Names and colours of a chart's series; `mark` is "line", "bar" or a shape. */
function chartKey(series) {
  const items = series.map(({ name, colour, shape }) => {
    const sample = svg("svg", { width: 16, height: 12, viewBox: "-8 -6 16 12", "aria-hidden": "true" });
    sample.append(shape === "bar" ? svg("rect", { x: -5, y: -5, width: 10, height: 10, class: `fill-${colour}` }) : svg("path", { d: "M-8 0H8", class: `stroke-${colour}` }));
    if (shape && shape !== "bar") sample.append(marker(shape, 0, 0, 4, colour));
    return element("li", {}, sample, name);
  });
  return element("ul", { class: "key" }, ...items);
}

const MARKERS = {
  disc: (r) => `M${-r} 0a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0`,
  square: (r) => `M${-r} ${-r}h${2 * r}v${2 * r}h${-2 * r}z`,
  diamond: (r) => `M0 ${-1.3 * r}L${1.3 * r} 0L0 ${1.3 * r}L${-1.3 * r} 0z`,
  triangle: (r) => `M0 ${-1.25 * r}L${1.2 * r} ${r}H${-1.2 * r}z`,
};

function marker(shape, x, y, radius, colour) {
  return svg("path", { d: MARKERS[shape](radius), transform: `translate(${x} ${y})`, class: `fill-${colour}` });
}

/** Lines across, with values at the left, and the axis' name above them. */
function valueAxis(ticks, scale, left, right, name, top) {
  const lines = ticks.flatMap(({ value, text }) => {
    const y = scale(value);
    return [
      svg("path", { d: `M${left} ${y}H${right}`, class: "grid" }),
      svg("text", { x: left - 8, y, "text-anchor": "end", "dominant-baseline": "middle" }, text),
    ];
  });
  return svg("g", {}, ...lines, svg("text", { x: 0, y: top, class: "axis-name" }, name));
}

/** Values along the bottom, and the axis' name below them. */
function bottomAxis(ticks, scale, left, right, y, name) {
  const marks = ticks.flatMap(({ value, text }) => [
    svg("path", { d: `M${scale(value)} ${y}v4`, class: "axis" }),
    svg("text", { x: scale(value), y: y + 17, "text-anchor": "middle" }, text),
  ]);
  return svg("g", {}, svg("path", { d: `M${left} ${y}H${right}`, class: "axis" }), ...marks, svg("text", { x: (left + right) / 2, y: y + 35, "text-anchor": "middle", class: "axis-name" }, name));
}

/** Ticks with their texts. */
function written(values) {
  return values.map((value) => ({ value, text: figure(value) }));
}

/** Width that the longest of the texts takes at the left. */
function leftRoom(ticks) {
  return 16 + 7 * Math.max(2, ...ticks.map(({ text }) => text.length));
}
