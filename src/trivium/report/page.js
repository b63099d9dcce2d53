"use strict";
// Sorts tables, browses items and draws charts.
// Texts from records enter only through textContent, so that nothing in them is ever markup.

function read(id) {
  const element = document.getElementById(id);
  return element ? JSON.parse(element.textContent) : null;
}

function sortTables() {
  for (const table of document.querySelectorAll("table.sortable")) {
    const heads = [...table.querySelectorAll("thead th")];
    heads.forEach((head, column) => {
      head.querySelector("button").addEventListener("click", () => {
        const up = head.getAttribute("aria-sort") !== "ascending";
        heads.forEach((other) => other.removeAttribute("aria-sort"));
        head.setAttribute("aria-sort", up ? "ascending" : "descending");
        const body = table.tBodies[0];
        const rows = [...body.rows].map((row) => [row.cells[column].textContent, row]);
        const numeric = rows.every(([text]) => text === "-" || text === "" || !isNaN(Number(text)));
        const value = (text) => (text === "-" || text === "" ? -Infinity : Number(text));
        rows.sort(([a], [b]) => (numeric ? value(a) - value(b) : a.localeCompare(b)));
        if (!up) rows.reverse();
        body.append(...rows.map(([, row]) => row));
      });
    });
  }
}

function browseItems() {
  const data = read("data-items");
  const browser = document.getElementById("browser");
  if (!data || !browser || !data.attempts.length) return;
  const filters = ["benchmark", "setting", "solver", "kind"];
  const base = (kind) => kind.split(":")[0];
  const of = (attempt, name) => (name === "kind" ? base(attempt.kind) : attempt[name]);
  let shown = data.attempts;
  let position = 0;

  function make(tag, text, kind) {
    const element = document.createElement(tag);
    if (text !== undefined) element.textContent = text;
    if (kind) element.className = kind;
    return element;
  }

  function choices(name) {
    const select = document.getElementById("filter-" + name);
    const kept = select.value;
    // Only values that the other filters leave can be chosen.
    const rest = data.attempts.filter((attempt) =>
      filters.every((other) => other === name || matches(attempt, other)));
    const counts = new Map();
    for (const attempt of rest) counts.set(of(attempt, name), (counts.get(of(attempt, name)) || 0) + 1);
    const options = [["", `all (${rest.length})`], ...[...counts].map(([value, n]) => [value, `${value} (${n})`])];
    select.replaceChildren(...options.map(([value, text]) => {
      const option = make("option", text);
      option.value = value;
      return option;
    }));
    select.value = counts.has(kept) ? kept : "";
  }

  function matches(attempt, name) {
    const wanted = document.getElementById("filter-" + name).value;
    return !wanted || of(attempt, name) === wanted;
  }

  function filter() {
    filters.forEach(choices);
    shown = data.attempts.filter((attempt) => filters.every((name) => matches(attempt, name)));
    position = 0;
    show();
  }

  function show() {
    const panel = document.getElementById("item");
    const attempt = shown[position];
    document.getElementById("position").textContent = shown.length ? `${position + 1} of ${shown.length}` : "none";
    document.getElementById("previous").disabled = position <= 0;
    document.getElementById("next").disabled = position >= shown.length - 1;
    if (!attempt) return panel.replaceChildren();
    const right = attempt.kind === "right";
    const head = make("p");
    head.append(
      make("span", attempt.kind, "badge " + (right ? "right" : "wrong")),
      ` ${attempt.solver} on ${attempt.id}, ${attempt.benchmark}, ${attempt.setting}` +
        (attempt.seed === null ? "" : `, seed ${attempt.seed}`) +
        (attempt.trial ? `, order ${attempt.trial}` : ""),
    );
    const parts = [head];
    const names = { system: "System", environment: "Prompt", solver: "Reply" };
    for (const [side, text] of attempt.turns) {
      parts.push(make("h4", names[side]), make("pre", data.texts[text]));
      if (side === "environment") names.environment = "Environment";
    }
    if (attempt.error) parts.push(make("h4", "Error"), make("pre", attempt.error));
    parts.push(make("h4", "Expected answer"), make("pre", attempt.expected));
    const scores = Object.entries(attempt.scores).map(([name, value]) => `${name} ${Number(value.toFixed(3))}`);
    if (scores.length) parts.push(make("p", "Scores: " + scores.join(", "), "lead"));
    panel.replaceChildren(...parts);
  }

  function move(step) {
    const next = Math.min(Math.max(position + step, 0), shown.length - 1);
    if (next !== position) { position = next; show(); }
  }

  filters.forEach((name) => document.getElementById("filter-" + name).addEventListener("change", filter));
  document.getElementById("previous").addEventListener("click", () => move(-1));
  document.getElementById("next").addEventListener("click", () => move(1));
  browser.addEventListener("keydown", (event) => {
    if (event.target.tagName === "SELECT" || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "ArrowRight" || event.key === "j") move(1);
    else if (event.key === "ArrowLeft" || event.key === "k") move(-1);
    else return;
    event.preventDefault();
  });
  browser.hidden = false;
  filter();
}

function drawCharts() {
  const specs = read("data-charts");
  if (!specs || typeof vegaEmbed === "undefined") return;
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  function draw() {
    const style = getComputedStyle(document.documentElement);
    const colour = (name) => style.getPropertyValue(name).trim();
    const text = { labelColor: colour("--ink"), titleColor: colour("--ink") };
    const config = {
      background: "transparent",
      axis: { ...text, gridColor: colour("--line"), domainColor: colour("--quiet"), tickColor: colour("--quiet") },
      legend: text,
      header: text,
      title: { color: colour("--ink"), subtitleColor: colour("--quiet") },
    };
    for (const figure of document.querySelectorAll("figure[data-chart]")) {
      const spec = structuredClone(specs[figure.dataset.chart]);
      const own = spec.config || {};
      for (const [part, values] of Object.entries(config)) {
        own[part] = typeof values === "object" ? { ...own[part], ...values } : values;
      }
      spec.config = own;
      // A chart can be saved, but nothing may be opened elsewhere.
      const actions = { export: true, source: false, compiled: false, editor: false };
      vegaEmbed(figure.querySelector(".canvas"), spec, { actions, renderer: "svg", ast: false })
        .catch((problem) => console.error(problem));
    }
  }
  draw();
  dark.addEventListener("change", draw);
}

sortTables();
browseItems();
drawCharts();
