"use strict";
// Sorts tables and browses attempts.
// Texts from records enter only through textContent, so that nothing in them is ever markup.

const byId = (id) => document.getElementById(id);

function make(tag, text, kind) {
  const element = document.createElement(tag);
  if (text !== undefined) element.textContent = text;
  if (kind) element.className = kind;
  return element;
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

// The text with every whole occurrence of the parts to highlight in a <mark>.
function highlighted(text, marks) {
  const pre = make("pre");
  pre.tabIndex = 0;
  const word = /[\w-]/;
  let last = 0;
  for (let at = 0; at < text.length; at++) {
    if (at && word.test(text[at - 1])) continue;
    const found = marks.find((part) => text.startsWith(part, at) && !word.test(text[at + part.length] || " "));
    if (!found) continue;
    pre.append(text.slice(last, at), make("mark", found));
    last = at + found.length;
    at = last - 1;
  }
  pre.append(text.slice(last));
  return pre;
}

function browseItems() {
  const data = byId("data-items") && JSON.parse(byId("data-items").textContent);
  if (!data) return;
  const filters = ["benchmark", "setting", "solver", "kind"];
  const of = (attempt, name) => (name === "kind" ? attempt.kind.split(":")[0] : attempt[name]);
  const link = (attempt) => "#item/" + ["benchmark", "setting", "solver", "seed", "id", "trial"]
    .map((name) => encodeURIComponent(attempt[name])).join("/");
  let shown = data.attempts;
  let position = 0;

  const wanted = (name) => byId("filter-" + name).value;
  const matches = (attempt, name) => !wanted(name) || of(attempt, name) === wanted(name);

  function found(attempt, words) {
    const texts = [attempt.id, attempt.kind, attempt.expected, ...attempt.turns.map(([, text]) => data.texts[text])];
    return words.every((word) => texts.some((text) => text.toLowerCase().includes(word)));
  }

  function choices(name) {
    const select = byId("filter-" + name);
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

  function filter() {
    filters.forEach(choices);
    const words = byId("search").value.toLowerCase().split(/\s+/).filter(Boolean);
    shown = data.attempts.filter((attempt) =>
      filters.every((name) => matches(attempt, name)) && found(attempt, words));
    position = 0;
    byId("list").replaceChildren(...shown.map((attempt, number) => {
      const row = make("li");
      const button = make("button");
      button.type = "button";
      button.tabIndex = -1;
      button.append(make("span", attempt.id, "badge" + (attempt.kind === "right" ? " right" : "")),
        make("small", `${attempt.benchmark}, ${attempt.setting}`), make("small", `${attempt.solver}: ${attempt.kind}`));
      button.addEventListener("click", () => go(number));
      row.append(button);
      return row;
    }));
    show();
  }

  function section(name, ...parts) {
    const whole = make("div");
    whole.append(make("h3", name), ...parts);
    return whole;
  }

  function show() {
    const attempt = shown[position];
    byId("position").textContent = shown.length ? `${position + 1} of ${shown.length}` : "none";
    byId("previous").disabled = position <= 0;
    byId("next").disabled = position >= shown.length - 1;
    const list = byId("list");
    for (const old of list.querySelectorAll("[aria-current]")) old.removeAttribute("aria-current");
    if (!attempt) return byId("item").replaceChildren();
    const row = list.children[position];
    row.firstChild.setAttribute("aria-current", "true");
    list.scrollTop = Math.max(0, row.offsetTop - list.offsetTop - 60);
    const head = make("p");
    const anchor = make("a", attempt.id);
    anchor.href = link(attempt);
    head.append(make("span", attempt.kind, "badge" + (attempt.kind === "right" ? " right" : "")), ` \u00b7 ${attempt.solver} on `, anchor,
      `, ${attempt.benchmark}, ${attempt.setting}` +
        (attempt.seed === null ? "" : `, seed ${attempt.seed}`) +
        (attempt.trial ? `, order ${attempt.trial}` : "") +
        (attempt.tokens === null ? "" : `, ${attempt.tokens} output tokens`));
    const answers = make("div", undefined, "two");
    answers.append(section("Expected", make("pre", attempt.expected)), section("Read from the reply", make("pre", attempt.read)));
    const meaning = data.kinds[attempt.benchmark][of(attempt, "kind")];
    const parts = meaning ? [head, make("p", meaning, "quiet"), answers] : [head, answers];
    const scores = Object.entries(attempt.scores).map(([name, value]) => `${name} ${Number(value.toFixed(3))}`);
    if (scores.length) parts.push(make("p", scores.join(", "), "quiet"));
    if (attempt.error) parts.push(section("Error", make("pre", attempt.error)));
    const names = { system: "System", environment: "Prompt", solver: "Reply", observer: "Ideal observer" };
    const marks = attempt.marks.map((text) => data.texts[text]);
    const turns = make("div", undefined, "turns");
    for (const [side, text] of attempt.turns) {
      turns.append(make("h3", names[side]));
      if (side === "observer") turns.append(make("p", data.texts[text], "quiet"));
      else turns.append(highlighted(data.texts[text], side === "environment" ? marks : []));
      if (side === "environment") names.environment = "Response";
    }
    byId("item").replaceChildren(...parts, turns);
  }

  function go(number) {
    const next = Math.min(Math.max(number, 0), shown.length - 1);
    if (next === position) return;
    position = next;
    show();
    history.replaceState(null, "", link(shown[position]));
  }

  // A permalink shows its attempt among all of them, whatever the filters were.
  function follow() {
    if (!location.hash.startsWith("#item/")) return;
    const number = data.attempts.findIndex((attempt) => link(attempt) === location.hash);
    if (number < 0) return;
    byId("search").value = "";
    filters.forEach((name) => { byId("filter-" + name).value = ""; });
    filter();
    position = number;
    show();
    byId("items").scrollIntoView();
  }

  function save(name, text, type) {
    const anchor = make("a");
    anchor.href = URL.createObjectURL(new Blob([text], { type }));
    anchor.download = name;
    anchor.click();
    URL.revokeObjectURL(anchor.href);
  }

  function plain(attempt) {
    const turns = attempt.turns.map(([side, text]) => ({ side, text: data.texts[text] }));
    const { marks, ...rest } = attempt;
    return { ...rest, turns };
  }

  // A cell that a spreadsheet would run as a formula begins with a quote.
  const cell = (value) => `"${String(value ?? "").replace(/^[=+\-@\t\r]/, "'$&").replaceAll('"', '""')}"`;

  byId("save-jsonl").addEventListener("click", () =>
    save("attempts.jsonl", shown.map((attempt) => JSON.stringify(plain(attempt)) + "\n").join(""), "application/jsonl"));
  byId("save-csv").addEventListener("click", () => {
    const names = ["benchmark", "setting", "solver", "seed", "id", "trial", "kind", "expected", "read", "tokens", "error"];
    const scores = [...new Set(shown.flatMap((attempt) => Object.keys(attempt.scores)))];
    const rows = shown.map((attempt) => [...names.map((name) => attempt[name]), ...scores.map((name) => attempt.scores[name])]);
    save("attempts.csv", [[...names, ...scores], ...rows].map((row) => row.map(cell).join(",")).join("\r\n"), "text/csv");
  });
  filters.forEach((name) => byId("filter-" + name).addEventListener("change", filter));
  byId("search").addEventListener("input", filter);
  byId("previous").addEventListener("click", () => go(position - 1));
  byId("next").addEventListener("click", () => go(position + 1));
  byId("browser").addEventListener("keydown", (event) => {
    if (/SELECT|INPUT/.test(event.target.tagName) || event.ctrlKey || event.metaKey || event.altKey) return;
    const inList = byId("list").contains(event.target);
    if (event.key === "ArrowRight" || event.key === "j" || (inList && event.key === "ArrowDown")) go(position + 1);
    else if (event.key === "ArrowLeft" || event.key === "k" || (inList && event.key === "ArrowUp")) go(position - 1);
    else return;
    event.preventDefault();
  });
  byId("browser").hidden = false;
  filter();
  follow();
  addEventListener("hashchange", follow);
}

sortTables();
browseItems();
