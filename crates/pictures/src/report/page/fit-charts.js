// How the fit went: the objective step by step, and the choice of score, beta
// and ridge where there was one.

const STOP_REASONS = {
  converged: "it had converged",
  "no-descent": "no step lowered the objective any more",
  patience: "the held-out score had stopped falling",
  steps: "the largest number of steps was reached",
};

function trainingFigure(history) {
  const { step } = history;
  if (!step || step.length === 0) return null;
  const known = (values) => (values ?? []).map((one) => (one === null ? NaN : one));
  const value = known(history.value);
  const heldOut = known(history.held_out);
  const panels = [{ name: "objective, per link", values: value, colour: "a" }];
  if (heldOut.some(Number.isFinite)) panels.push({ name: "held-out score", values: heldOut, colour: "b" });
  const height = 190;
  return chartFigure({
    title: "Training",
    caption: trainingCaption(history, heldOut),
    values: valuesTable(["step", ...panels.map((one) => one.name)], step.map((one, i) => [one, ...panels.map((panel) => panel.values[i])])),
    draw: (width) => {
      const made = svg("svg", { width, height: panels.length * height + 40, viewBox: `0 0 ${width} ${panels.length * height + 40}` });
      panels.forEach((panel, i) => made.append(trainingPanel(panel, history, width, i * height, height, i === panels.length - 1)));
      return made;
    },
  });
}

function trainingPanel(panel, history, width, offset, height, last) {
  const { step, best_step: best } = history;
  const [low, high] = rangeOf(panel.values);
  const ticks = written(roundTicks(low, high, 4));
  const [left, right, top, bottom] = [70, width - 26, offset + 26, offset + height - 6];
  const x = linearScale(step[0], step[step.length - 1], left, right);
  const y = linearScale(low, high, bottom, top);
  const group = svg("g", {}, valueAxis(ticks, y, left, right, panel.name, offset + 12));
  const known = step.map((one, i) => [x(one), y(panel.values[i])]).filter(([, at]) => Number.isFinite(at));
  const path = known.map(([at, up], i) => `${i ? "L" : "M"}${at.toFixed(1)} ${up.toFixed(1)}`).join("");
  if (best !== null && best !== undefined) {
    group.append(svg("path", { d: `M${x(best)} ${top}V${bottom}`, class: "best" }));
    const early = x(best) < (left + right) / 2;
    if (offset === 0) group.append(svg("text", { x: x(best) + (early ? 6 : -6), y: top + 8, "text-anchor": early ? "start" : "end" }, `kept: step ${best}`));
  }
  group.append(svg("path", { d: path, class: `line stroke-${panel.colour}` }));
  if (known.length <= 60) for (const [at, up] of known) group.append(marker("disc", at, up, 2.5, panel.colour));
  const across = written(roundTicks(step[0], step[step.length - 1], Math.max(2, width / 90)));
  group.append(last ? bottomAxis(across, x, left, right, bottom, "step") : svg("path", { d: `M${left} ${bottom}H${right}`, class: "axis" }));
  return group;
}

function trainingCaption(history, heldOut) {
  const { step, value, best_step: best, stop_reason: reason } = history;
  const last = value.length - 1;
  const turn = value[last] < value[0] ? "falls" : "goes";
  let text = `The objective ${turn} from ${figure(value[0])} at step ${count(step[0])} to ${figure(value[last])} at step ${count(step[last])}.`;
  const at = step.indexOf(best);
  if (best !== null && best !== undefined) {
    const score = at >= 0 && Number.isFinite(heldOut[at]) ? `, where the held-out score is ${figure(heldOut[at])}` : "";
    text += ` The model kept is that of step ${count(best)}${score}.`;
  }
  if (reason) text += ` The fit ended because ${STOP_REASONS[reason] ?? reason}.`;
  return text;
}

const SERIES_SHAPES = ["disc", "square", "diamond", "triangle"];
const SERIES_COLOURS = ["a", "b", "c", "d", "e", "f"];

/** The score, with its beta where it has one. */
function scoreName(one) {
  const plain = one.beta === null || one.beta === undefined;
  return plain ? String(one.score) : `${one.score}, beta ${figure(one.beta)}`;
}

/** One line for each score and beta, over the ridges. */
function selectionSeries(candidates) {
  const series = new Map();
  for (const one of candidates) {
    const name = scoreName(one);
    if (!series.has(name)) series.set(name, []);
    series.get(name).push(one);
  }
  return [...series].map(([name, points], i) => ({
    name,
    points: points.sort((a, b) => a.ridge - b.ridge),
    colour: SERIES_COLOURS[i % SERIES_COLOURS.length],
    shape: SERIES_SHAPES[i % SERIES_SHAPES.length],
  }));
}

function selectionFigure(selection) {
  const known = (selection?.candidates ?? []).filter((one) => Number.isFinite(one.behind));
  if (known.length === 0) return null;
  const series = selectionSeries(known);
  const ridges = [...new Set(known.map((one) => one.ridge))].sort((a, b) => a - b);
  const chosen = known.find((one) => one.chosen);
  const choice = chosen ? ` Chosen, ringed: ${scoreName(chosen)}, ridge ${figure(chosen.ridge)}, ${figure(chosen.behind)} behind the best.` : "";
  return chartFigure({
    title: "Choice of score, beta and ridge",
    caption: `How far each of ${counted(known.length, "candidate")} is behind the best by ${selection.criterion} on held-out links, with standard errors; lower is better.${choice}`,
    key: chartKey(series),
    values: valuesTable(["score", "beta", "ridge", "behind", "standard error", "chosen"], known.map((one) => [one.score, one.beta, one.ridge, one.behind, one.standard_error, one.chosen ? "yes" : ""])),
    draw: (width) => drawSelection(series, ridges, known, width),
  });
}

function drawSelection(series, ridges, known, width) {
  const height = 330;
  const made = svg("svg", { width, height, viewBox: `0 0 ${width} ${height}` });
  const ends = known.flatMap((one) => [one.behind - (one.standard_error ?? 0), one.behind + (one.standard_error ?? 0), 0]);
  const [low, high] = rangeOf(ends);
  const ticks = written(roundTicks(low, high, 5));
  const [left, right, top, bottom] = [Math.max(56, leftRoom(ticks)), width - 16, 28, height - 44];
  // Ridges are tried in steps of a factor: they stand at equal distances.
  const room = ridges.length > 1 ? 24 : (right - left) / 2;
  const x = linearScale(0, Math.max(1, ridges.length - 1), left + room, right - room);
  const y = linearScale(low, high, bottom, top);
  made.append(valueAxis(ticks, y, left, right, "behind the best, per link", 12));
  const every = Math.ceil(ridges.length / Math.max(1, (right - left) / 48));
  made.append(bottomAxis(ridges.map((one, i) => ({ value: i, text: i % every ? "" : figure(one) })), x, left, right, bottom, "ridge"));
  series.forEach(({ points, colour, shape, name }, i) => {
    // Side by side, so that error bars do not hide each other.
    const aside = (i - (series.length - 1) / 2) * Math.min(7, 30 / series.length);
    const place = (one) => x(ridges.indexOf(one.ridge)) + aside;
    const path = points.map((one, at) => `${at ? "L" : "M"}${place(one)} ${y(one.behind)}`).join("");
    made.append(svg("path", { d: path, class: `line stroke-${colour}` }));
    for (const one of points) {
      const error = one.standard_error ?? 0;
      if (error > 0) made.append(svg("path", { d: `M${place(one)} ${y(one.behind - error)}V${y(one.behind + error)}`, class: `error stroke-${colour}` }));
      const point = marker(shape, place(one), y(one.behind), 4, colour);
      point.append(svg("title", {}, `${name}, ridge ${figure(one.ridge)}: ${figure(one.behind)} ± ${figure(error)}`));
      made.append(point);
      if (one.chosen) made.append(svg("circle", { cx: place(one), cy: y(one.behind), r: 9, class: "chosen" }));
    }
  });
  return made;
}
