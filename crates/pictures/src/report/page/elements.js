// Making elements. Names and labels come from users' files: they enter the page
// as text nodes and attribute values only, never as markup.

const SVG_NAMESPACE = "http://www.w3.org/2000/svg";

function byId(id) {
  return document.getElementById(id);
}

function filled(made, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== null && value !== undefined && value !== false) {
      made.setAttribute(name, value === true ? "" : value);
    }
  }
  made.append(...children);
  return made;
}

/** An HTML element; strings among the children become text. */
function element(tag, attributes = {}, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

/** An SVG element; strings among the children become text. */
function svg(tag, attributes = {}, ...children) {
  return filled(document.createElementNS(SVG_NAMESPACE, tag), attributes, children);
}

const WHOLE = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });

/** A count, with separators. */
function count(value) {
  return WHOLE.format(value);
}

/** A count with its noun: "1 node", "3 nodes". */
function counted(value, noun) {
  return `${count(value)} ${noun}${value === 1 ? "" : "s"}`;
}

const COMPACT = new Intl.NumberFormat("en", { notation: "compact", maximumSignificantDigits: 3 });
/** Smaller figures than this are as good as nothing to a reader. */
const TINY = 1e-4;

/** A figure with three digits that matter, as people write it. */
function figure(value) {
  if (value === null || value === undefined || Number.isNaN(value)) return "-";
  if (!Number.isFinite(value)) return value > 0 ? "infinite" : "-infinite";
  const size = Math.abs(value);
  if (size === 0) return "0";
  if (Number.isInteger(value) && size < 1e7) return count(value);
  if (size < TINY) return value > 0 ? `<${TINY}` : `>-${TINY}`;
  if (size >= 1e15) return value.toExponential(2).replace("e+", "e");
  if (size >= 1e7) return COMPACT.format(value);
  if (size >= 1000) return count(value);
  return String(Number(value.toPrecision(3)));
}

/** A table of values, filled when it is first opened. */
function valuesTable(headers, rows) {
  const details = element("details", { class: "values" }, element("summary", {}, "Values"));
  details.addEventListener("toggle", () => {
    if (details.querySelector("table")) return;
    const head = element("tr", {}, ...headers.map((one) => element("th", { scope: "col" }, one)));
    const body = rows.map((row) =>
      element("tr", {}, ...row.map((one) => element("td", {}, typeof one === "number" ? figure(one) : String(one ?? "-")))),
    );
    const table = element("table", {}, element("thead", {}, head), element("tbody", {}, ...body));
    details.append(element("div", { class: "table-scroll" }, table));
  });
  return details;
}
