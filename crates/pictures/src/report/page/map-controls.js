// The controls beside the map: colours, legend, links and their belief or trust.

function attachColours(scatter) {
  const { report } = scatter;
  const select = byId("colour-by");
  const legend = byId("legend");
  const choices = colourChoices(report);
  if (choices.length === 0) choices.push({ value: "none", name: "One colour" });
  select.replaceChildren(...choices.map(({ value, name }) => element("option", { value }, name)));
  const kept = new Set();

  const legendEntry = (entry) => {
    const swatch = element("span", { class: "swatch", "aria-hidden": "true" });
    swatch.style.background = entryColour(entry, currentTheme());
    const name = element("span", { class: "name", title: entry.name }, entry.name);
    const number = element("span", { class: "count" }, count(entry.count));
    const pressed = kept.has(entry.place);
    const button = element("button", { type: "button", "aria-pressed": String(pressed) }, swatch, name, number);
    if (kept.size > 0 && !pressed) button.classList.add("dimmed");
    button.addEventListener("click", () => {
      if (pressed) kept.delete(entry.place);
      else kept.add(entry.place);
      const position = [...legend.children].indexOf(button.parentElement);
      show();
      legend.children[position].firstChild.focus();
    });
    return element("li", {}, button);
  };
  const showLegend = () => legend.replaceChildren(...scatter.colours.entries.map(legendEntry));
  const show = () => {
    scatter.setColouring(scatter.colours, kept);
    showLegend();
  };
  const choose = () => {
    kept.clear();
    scatter.setColouring(colouring(report, select.value), kept);
    showLegend();
    byId("map-caption").textContent = mapCaption(scatter, select.value);
  };
  select.addEventListener("change", choose);
  document.addEventListener("themechange", showLegend);
  choose();
}

/** What is seen, in words. */
function mapCaption(scatter, by) {
  const { nodes, links, layout } = scatter.report;
  const suspects = links.suspects ?? scatter.filter.groups.suspect.n;
  const named = scatter.colours.entries.filter((entry) => entry.kind !== "other" && entry.kind !== "none");
  const largest = named.sort((a, b) => b.count - a.count)[0];
  const share = largest ? Math.round((100 * largest.count) / Math.max(1, nodes.n)) : 0;
  const colours = by === "none" || !largest ? "" : ` Coloured by ${by}${by === "cluster" && !nodes.label ? ` (k-means into ${nodes.clusters}, a number of ours)` : ""}: the largest group is ${largest?.name} (${share}%).`;
  const outside = countOutside(nodes, scatter.extent);
  const far = outside ? ` ${counted(outside, "node")} lie${outside === 1 ? "s" : ""} outside the first view; zoom out to see ${outside === 1 ? "it" : "them"}.` : "";
  return `${counted(nodes.n, "node")} placed by ${layout}; nodes that the model holds alike lie close together. Faint lines are links; ${suspects ? `${counted(suspects, "link")} under suspicion ${suspects === 1 ? "is" : "are"} drawn in orange${suspects > SUSPECTS_AT_ONCE ? " when asked for" : ""}` : "no link is under suspicion"}.${colours}${far}${links.shown < links.n ? ` Of ${count(links.n)} links ${count(links.shown)} are here: the least ${leastWord(scatter.report)}, suspects, and some of the others.` : ""}`;
}

function attachLinkControls(scatter) {
  const { filter } = scatter;
  const { by } = scatter.report.links;
  byId("trust-label").textContent = `Show links with ${by}`;
  byId("trust").setAttribute("aria-label", `Threshold of ${by}`);
  const parts = {
    links: byId("show-links"), suspects: byId("show-suspects"), side: byId("trust-side"),
    trust: byId("trust"), value: byId("trust-value"), status: byId("links-status"),
  };
  parts.suspects.checked = filter.showSuspects;
  const update = () => {
    filter.showOrdinary = parts.links.checked;
    filter.showSuspects = parts.suspects.checked;
    filter.side = parts.side.value;
    filter.share = Number(parts.trust.value) / 1000;
    parts.value.textContent = filter.thresholdText;
    parts.trust.setAttribute("aria-valuetext", `${by} ${filter.side === "upto" ? "up to" : "from"} ${filter.thresholdText}`);
    const suspects = filter.drawn("suspect");
    const drawn = filter.drawn("ordinary") + suspects;
    const hidden = filter.showSuspects ? 0 : filter.groups.suspect.n;
    const asked = hidden > SUSPECTS_AT_ONCE ? ` ${count(hidden)} suspects would hide the map: tick them to see them.` : "";
    parts.status.textContent = `${count(drawn)} of ${counted(scatter.report.links.shown, "link")} drawn, ${counted(suspects, "suspect")} among them.${asked}`;
    scatter.redraw();
  };
  // Turning the direction turns the slider, so that all links stay in view.
  parts.side.addEventListener("change", () => {
    if (parts.trust.value === "1000" || parts.trust.value === "0") parts.trust.value = parts.side.value === "upto" ? "1000" : "0";
    update();
  });
  for (const part of [parts.links, parts.suspects]) part.addEventListener("change", update);
  parts.trust.addEventListener("input", update);
  update();
}

function attachZoomButtons(scatter) {
  byId("zoom-in").addEventListener("click", () => scatter.zoomBy(KEY_ZOOM));
  byId("zoom-out").addEventListener("click", () => scatter.zoomBy(1 / KEY_ZOOM));
  byId("zoom-reset").addEventListener("click", () => scatter.reset());
}
