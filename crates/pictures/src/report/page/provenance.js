// What the model was made from and with: notes, command, parameters, inputs.

function fillFacts(report) {
  const facts = report.facts ?? [];
  byId("facts").replaceChildren(...facts.map(([name, value]) => element("div", {}, element("dt", {}, String(name)), element("dd", {}, String(value)))));
  byId("made").textContent = `${counted(report.nodes.n, "node")}, ${counted(report.links.n, "link")}; by ${report.made}`;
  byId("footer-made").textContent = `Made by ${report.made}. This page needs no network and sends nothing.`;
  byId("map-lead").textContent = `Each point is a node, placed by ${report.layout}.`;
}

function fillProvenance(report) {
  const parts = [];
  if (report.notes?.length) {
    parts.push(part("Notes", element("ul", { class: "notes" }, ...report.notes.map((one) => element("li", {}, String(one)))), true));
  }
  const line = report.command_line || (report.command ?? []).join(" ");
  if (line) parts.push(part("Command", commandBlock(line), true));
  const parameters = Object.entries(report.parameters ?? {});
  if (parameters.length) {
    const rows = parameters.map(([name, value]) => [name, typeof value === "string" ? value : JSON.stringify(value)]);
    parts.push(part("Parameters", pairTable("Parameters", ["parameter", "value"], rows)));
  }
  if (report.inputs?.length) {
    parts.push(part("Inputs", pairTable("Inputs", ["file", "SHA-256"], report.inputs.map(([name, digest]) => [name, digest]), true)));
  }
  byId("provenance").replaceChildren(...parts);
}

function part(title, content, wide = false) {
  return element("div", { class: wide ? "part wide" : "part" }, element("h3", {}, title), content);
}

function pairTable(name, headers, rows, code = false) {
  const head = element("tr", {}, ...headers.map((one) => element("th", { scope: "col" }, one)));
  const body = rows.map(([key, value]) => element("tr", {}, element("td", {}, String(key)), element("td", { class: code ? "code" : "value" }, String(value))));
  const table = element("table", {}, element("thead", {}, head), element("tbody", {}, ...body));
  return element("div", { class: "table-scroll plain", tabindex: "0", role: "region", "aria-label": name }, table);
}

function commandBlock(line) {
  const code = element("code", {}, line);
  const button = element("button", { type: "button", class: "quiet" }, "Copy");
  const said = element("span", { class: "unseen", role: "status", "aria-live": "polite" });
  button.addEventListener("click", async () => {
    const done = await copyText(line, code);
    button.textContent = done ? "Copied" : "Press Ctrl+C";
    said.textContent = done ? "The command is copied" : "The command is selected; press Ctrl+C";
    setTimeout(() => (button.textContent = "Copy"), 2500);
  });
  return element("div", { class: "command" }, element("pre", { tabindex: "0" }, code), button, said);
}

/** The clipboard is closed to some pages opened from a file: then the text is selected. */
async function copyText(text, shown) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const range = document.createRange();
    range.selectNodeContents(shown);
    const selection = window.getSelection();
    selection.removeAllRanges();
    selection.addRange(range);
    return document.execCommand("copy");
  }
}
