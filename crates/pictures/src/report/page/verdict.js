// What was found about links and embedding, and what became of planted links.

const TOPICS = {
  links: "Links", test: "Test", features: "Features", weights: "Weights", smoothing: "Smoothing", dimensions: "Dimensions",
  // Of models written before.
  judged: "Links", agreement: "Features", averages: "Smoothing", vectors: "Features", sure: "How sure", checked: "Test",
};
const PLANTED = { uniform: "at random", "by degree": "between popular nodes", alike: "between similar nodes" };

function fillVerdict(report) {
  const found = report.verdict;
  byId("verdict").hidden = byId("to-verdict").hidden = !found;
  if (!found) return;
  byId("said").replaceChildren(...found.said.map(sentence));
  const detection = found.detection ?? [];
  if (!detection.length) return;
  const headers = ["planted", "links", "flagged", "ranked high", "your links ranked as high"];
  const rows = detection.map((it) => [PLANTED[it.kind] ?? it.kind, count(it.planted), percent(it.flagged), percent(it.found), percent(it.own)]);
  const head = element("tr", {}, ...headers.map((one) => element("th", { scope: "col" }, one)));
  const body = rows.map((row) => element("tr", {}, ...row.map((one) => element("td", {}, String(one)))));
  const table = element("table", { id: "implant-table" }, element("thead", {}, head), element("tbody", {}, ...body));
  byId("implants").replaceChildren(element("details", {},
    element("summary", {}, "Test: links that we planted"),
    element("p", { class: "lead" }, "We planted false links and judged them with yours. Ranked high: more suspicious than nine tenths of the believed links."),
    element("div", { class: "table-scroll plain", tabindex: "0", role: "region", "aria-label": "Planted links" }, table),
  ));
}

/** A sentence behind what it is about; the first one stands alone. */
function sentence({ about, says }) {
  const text = String(says);
  if (about === "use" || about === "short") return element("li", { class: "about-short" }, text.replace(/^In short: (.)/, (_, letter) => letter.toUpperCase()));
  return element("li", { class: `about-${about}` }, element("span", { class: "topic" }, TOPICS[about] ?? String(about)), element("span", {}, text));
}

function percent(share) {
  return `${(100 * share).toFixed(share > 0 && share < 0.1 ? 1 : 0)}%`;
}
