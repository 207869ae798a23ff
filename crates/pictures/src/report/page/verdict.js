// What the judge of a robust fit found: its sentences, what became of links that it
// knew to be false, and what speaks for and against a link.

/** A rank up to the first speaks for a link, one from the second on against it. */
const RANK_FOR = 0.2;
const RANK_AGAINST = 0.5;
/** Weights that multiply the odds by less than this say nothing. */
const ODDS_THAT_SPEAK = 1.25;

const TOPICS = {
  links: "Links", test: "Test", features: "Features", weights: "Weights", smoothing: "Smoothing", dimensions: "Dimensions",
  // Of models written before.
  judged: "Links", agreement: "Features", averages: "Smoothing", vectors: "Features", sure: "How sure", checked: "Test",
};
const IMPLANTS = { uniform: "at random", "by-degree": "by degree", similar: "between similar nodes" };

function fillVerdict(report) {
  const found = report.verdict;
  byId("verdict").hidden = byId("to-verdict").hidden = !found;
  if (!found) return;
  byId("said").replaceChildren(...found.said.map(sentence));
  const implanted = found.implanted ?? [];
  if (!implanted.length) return;
  const headers = ["put in", "links", "rate asked for", "claimed", "realised", "found", "suspects"];
  const rows = implanted.map((it) => [
    IMPLANTS[it.kind] ?? it.kind, count(it.implants), figure(it.asked), it.suspects ? percent(it.claimed) : "-", it.suspects ? percent(it.realised) : "-",
    percent(it.found), count(it.suspects),
  ]);
  const head = element("tr", {}, ...headers.map((one) => element("th", { scope: "col" }, one)));
  const body = rows.map((row) => element("tr", {}, ...row.map((one) => element("td", {}, String(one)))));
  const table = element("table", { id: "implant-table" }, element("thead", {}, head), element("tbody", {}, ...body));
  byId("implants").replaceChildren(element("details", {},
    element("summary", {}, "How the check was made: links that are known to be false"),
    element("p", { class: "lead" }, "To check its claims the judge puts false links in and judges them as the rest. Claimed and realised are the shares of sound links among the suspects at a rate."),
    element("div", { class: "table-scroll plain", tabindex: "0", role: "region", "aria-label": "Links that are known to be false" }, table),
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

/** What speaks for a link and what against it, in words. */
function spoken({ links }, link) {
  const said = { for: [], against: [] };
  for (const { name, column } of links.evidence ?? []) {
    const rank = links[column][link];
    // Where there is nothing to compare, all pairs are alike.
    if (rank === 0.5) continue;
    if (rank <= RANK_FOR) said.for.push(`${name} ${percent(1 - rank)}`);
    else if (rank >= RANK_AGAINST) said.against.push(`${name} ${percent(rank)}`);
  }
  const odds = links.weight_odds?.[link] ?? 1;
  if (odds > ODDS_THAT_SPEAK) said.for.push(`weight ×${figure(odds)}`);
  else if (odds < 1 / ODDS_THAT_SPEAK) said.against.push(`weight ×${figure(odds)}`);
  return { for: said.for.join(", ") || "-", against: said.against.join(", ") || "-" };
}
