// Puts the page together: first the map, which is what one came for, then the
// rest, once the map has been painted.

function showProblem(text) {
  const problem = byId("problem");
  problem.textContent = text;
  problem.hidden = false;
}

function fillFigures(report) {
  const made = [
    trainingFigure(report.history ?? {}),
    selectionFigure(report.selection),
    histogramFigure("Degrees", "degree", report.degrees),
    histogramFigure("Weights", "weight", report.weights),
  ];
  const figures = made.filter(Boolean);
  byId("figures").replaceChildren(...figures);
  byId("fit").hidden = figures.length === 0;
}

/** Counters for those who look from outside, such as tests: to be read only. */
function exposeCounters(report, scatter) {
  const counters = {
    get drawnLinks() {
      return scatter.filter.drawn("ordinary") + scatter.filter.drawn("suspect");
    },
    get drawnSuspects() {
      return scatter.filter.drawn("suspect");
    },
    get frames() {
      return scatter.frames;
    },
    get view() {
      return scatter.view.place;
    },
    get complete() {
      return scatter.complete;
    },
    get renderer() {
      return scatter.renderer.kind;
    },
    get hovered() {
      return scatter.hovered;
    },
    get pinned() {
      return scatter.pinned;
    },
    nodeName: (node) => nodeName(report, node),
    /** Where a node is, in CSS pixels from the corner of the window. */
    nodePlace: (node) => {
      const box = scatter.canvas.getBoundingClientRect();
      const [left, top] = scatter.view.toScreen(report.nodes.x[node], report.nodes.y[node]);
      return [box.left + left, box.top + top];
    },
  };
  Object.defineProperty(window, "linkproof", { value: Object.freeze(counters) });
}

function start() {
  const report = readReport(byId("data").textContent);
  fillFacts(report);
  fillVerdict(report);
  const filter = new LinkFilter(report);
  const scatter = new Scatter(report, filter, { stage: byId("stage"), canvas: byId("scatter"), overlay: byId("overlay") });
  if (scatter.renderer.kind === "canvas") {
    showProblem("This browser offers no WebGL, so the map is drawn in a simpler and slower way. Everything else works as usual.");
  }
  scatter.theme = currentTheme();
  attachColours(scatter);
  attachLinkControls(scatter);
  document.addEventListener("themechange", () => scatter.setTheme(currentTheme()));
  attachTheme();
  byId("scatter").setAttribute("aria-label", `Map of ${counted(report.nodes.n, "node")} and ${counted(report.links.shown, "link")}`);
  new NodeCard(scatter);
  attachSearch(scatter);
  attachZoomButtons(scatter);
  attachGestures(scatter);
  attachPrinting(scatter);
  exposeCounters(report, scatter);
  requestAnimationFrame(() =>
    setTimeout(() => {
      // What fails leaves the other parts as they are.
      for (const part of [() => fillFigures(report), () => fillProvenance(report), () => new LinkTable(scatter)]) {
        attempt(part);
      }
      document.documentElement.dataset.ready = "";
    }),
  );
}

/** Does a part, or says why it cannot be done. */
function attempt(part) {
  try {
    part();
  } catch (error) {
    showProblem(`A part of the report could not be drawn: ${error.message}`);
    console.error(error);
  }
}

attempt(start);
