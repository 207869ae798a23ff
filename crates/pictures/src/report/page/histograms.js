// Degrees and weights: what was observed beside what the model expects.

/** Counts that differ by more than this factor are drawn by their logarithm. */
const LOG_FROM = 60;

function histogramFigure(title, noun, data) {
  const classes = data?.labels?.length ?? 0;
  if (classes === 0) return null;
  const all = [...data.observed, ...data.expected].filter((one) => one > 0);
  if (all.length === 0) return null;
  const high = Math.max(...all);
  const useLog = high > LOG_FROM * Math.max(1, Math.min(...all));
  const series = [{ name: "observed", colour: "a", shape: "bar" }, { name: "expected by the model", colour: "b", shape: "bar" }];
  return chartFigure({
    title,
    caption: histogramCaption(noun, data, useLog),
    key: chartKey(series),
    values: valuesTable([noun, "observed", "expected"], data.labels.map((label, i) => [label, data.observed[i], data.expected[i]])),
    draw: (width) => drawHistogram(data, noun, high, useLog, width),
  });
}

function histogramCaption(noun, data, useLog) {
  const most = data.observed.indexOf(Math.max(...data.observed));
  const gaps = data.observed.map((one, i) => Math.abs(one - data.expected[i]));
  const gap = gaps.indexOf(Math.max(...gaps));
  const scale = useLog ? " Heights grow with the logarithm of the count." : "";
  return `The ${noun} seen most often is ${data.labels[most]} (${counted(data.observed[most], "time")}). Observed and expected differ most at ${data.labels[gap]}: ${figure(data.observed[gap])} observed, ${figure(data.expected[gap])} expected.${scale}`;
}

function drawHistogram(data, noun, high, useLog, width) {
  const height = 280;
  const made = svg("svg", { width, height, viewBox: `0 0 ${width} ${height}` });
  // log(1 + count): an empty class has no height, and a fraction a small one.
  const level = useLog ? (value) => Math.log10(1 + Math.max(0, value)) : (value) => Math.max(0, value);
  const values = useLog ? [0, 1, ...Array.from({ length: Math.ceil(Math.log10(high)) }, (_, i) => 10 ** (i + 1))] : roundTicks(0, high * 1.04, 4);
  const ticks = written(values.filter((one) => one <= high * (useLog ? 1.6 : 1.05)));
  const [left, right, top, bottom] = [Math.max(44, leftRoom(ticks)), width - 8, 26, height - 44];
  const y = linearScale(0, level(high) * 1.04, bottom, top);
  made.append(valueAxis(ticks.map(({ value, text }) => ({ value: level(value), text })), y, left, right, useLog ? "count (log scale)" : "count", 12));
  const n = data.labels.length;
  const pitch = (right - left) / n;
  const bar = Math.min(26, pitch * 0.38);
  data.labels.forEach((label, i) => {
    const middle = left + pitch * (i + 0.5);
    [["a", data.observed[i], -bar - 0.5, "observed"], ["b", data.expected[i], 0.5, "expected"]].forEach(([colour, value, aside, name]) => {
      const from = y(level(value));
      const rect = svg("rect", { x: middle + aside, y: from, width: bar, height: Math.max(0, bottom - from), rx: 1, class: `fill-${colour}` });
      rect.append(svg("title", {}, `${noun} ${label}: ${figure(value)} ${name}`));
      made.append(rect);
    });
  });
  const longest = Math.max(...data.labels.map((one) => String(one).length));
  const every = Math.ceil((7 * longest + 8) / pitch);
  const x = (i) => left + pitch * (i + 0.5);
  made.append(bottomAxis(data.labels.map((label, i) => ({ value: i, text: i % every ? "" : String(label) })), x, left, right, bottom, noun));
  return made;
}
