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

// What a compressed part of the page holds.
async function unpack(number) {
  const bytes = Uint8Array.from(atob(byId("part-" + number).textContent), (sign) => sign.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).json();
}

const LISTED = 300;  // attempts in the list; filters and arrows reach the others
const FIELDS = ["benchmark", "setting", "solver", "id", "kind"];
const words = (kind) => kind.replaceAll("-", " ").replaceAll(":", " ");

function browseItems() {
  const data = byId("data-items") && JSON.parse(byId("data-items").textContent);
  if (!data) return;
  const filters = ["benchmark", "setting", "solver", "kind"];
  const attempts = data.list.map((row) => {
    const found = { seed: row[5], trial: row[6], part: row[7], place: row[8] };
    FIELDS.forEach((name, n) => { found[name] = data.names[row[n]]; });
    return found;
  });
  const of = (attempt, name) => (name === "kind" ? attempt.kind.split(":")[0] : attempt[name]);
  const link = (attempt) => "#item/" + ["benchmark", "setting", "solver", "seed", "id", "trial"]
    .map((name) => encodeURIComponent(attempt[name])).join("/");
  const parts = new Map();
  let shown = attempts;
  let position = 0;

  // Everything about an attempt, once its part is unpacked; undefined before.
  function whole(attempt) {
    const part = parts.get(attempt.part);
    return part && { ...part.attempts[attempt.place], text: (number) => part.texts[number] };
  }

  async function load(chosen) {
    for (const number of new Set(chosen.map((attempt) => attempt.part)))
      if (!parts.has(number)) parts.set(number, await unpack(number));
  }

  const wanted = (name) => byId("filter-" + name).value;
  const matches = (attempt, name) => !wanted(name) || of(attempt, name) === wanted(name) ||
    (name === "kind" && wanted(name) === "!right" && attempt.kind !== "right");

  function found(attempt, searched) {
    const full = whole(attempt);
    const texts = [attempt.id, words(attempt.kind), attempt.kind, attempt.solver,
      ...(full ? [full.expected, ...full.turns.map(([, text]) => full.text(text))] : [])];
    return searched.every((word) => texts.some((text) => text.toLowerCase().includes(word)));
  }

  function choices(name) {
    const select = byId("filter-" + name);
    const kept = select.value;
    // Only values that the other filters leave can be chosen.
    const rest = attempts.filter((attempt) => filters.every((other) => other === name || matches(attempt, other)));
    const counts = new Map();
    for (const attempt of rest) counts.set(of(attempt, name), (counts.get(of(attempt, name)) || 0) + 1);
    const options = [["", `all (${rest.length})`]];
    const failures = rest.length - (counts.get("right") || 0);
    if (name === "kind" && failures) options.push(["!right", `all failures (${failures})`]);
    for (const [value, n] of counts) options.push([value, `${name === "kind" ? words(value) : value} (${n})`]);
    select.replaceChildren(...options.map(([value, text]) => {
      const option = make("option", text);
      option.value = value;
      return option;
    }));
    select.value = options.some(([value]) => value === kept) ? kept : "";
  }

  function badge(attempt) {
    return make("span", words(attempt.kind), "badge" + (attempt.kind === "right" ? " right" : ""));
  }

  function filter() {
    filters.forEach(choices);
    const searched = byId("search").value.toLowerCase().split(/\s+/).filter(Boolean);
    const left = attempts.filter((attempt) => filters.every((name) => matches(attempt, name)));
    if (searched.length && left.some((attempt) => !parts.has(attempt.part))) load(left).then(filter);
    shown = left.filter((attempt) => found(attempt, searched));
    position = 0;
    byId("list").replaceChildren(...shown.slice(0, LISTED).map((attempt, number) => {
      const row = make("li");
      const button = make("button");
      button.type = "button";
      button.tabIndex = -1;
      button.append(badge(attempt), make("small", attempt.solver), make("small", `${attempt.benchmark}, ${attempt.id}`));
      button.addEventListener("click", () => go(number));
      row.append(button);
      return row;
    }));
    show();
  }

  function section(name, ...content) {
    const box = make("div");
    box.append(make("h3", name), ...content);
    return box;
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
    if (row) {
      row.firstChild.setAttribute("aria-current", "true");
      list.scrollTop = Math.max(0, row.offsetTop - list.offsetTop - 60);
    }
    const full = whole(attempt);
    if (full) return draw(attempt, full);
    byId("item").replaceChildren(make("p", "unpacking", "quiet"));
    load([attempt]).then(() => { if (shown[position] === attempt) draw(attempt, whole(attempt)); }, () =>
      byId("item").replaceChildren(make("p", "This browser cannot unpack the attempts; a newer one can.")));
  }

  // The reply first, then what was expected and what was read, then the prompt.
  function draw(attempt, full) {
    const head = make("p");
    const anchor = make("a", attempt.id);
    anchor.href = link(attempt);
    head.append(badge(attempt), ` \u00b7 ${attempt.solver} on `, anchor, `, ${attempt.benchmark}, ${attempt.setting}` +
      (attempt.seed === null ? "" : `, seed ${attempt.seed}`) +
      (attempt.trial ? `, order ${attempt.trial}` : "") +
      (full.tokens === null ? "" : `, ${full.tokens} output tokens`));
    const content = [head];
    const meaning = data.kinds[attempt.benchmark][of(attempt, "kind")];
    if (meaning) content.push(make("p", `${words(of(attempt, "kind"))}: ${meaning}.`, "quiet"));
    if (full.error) content.push(section("Error", make("pre", full.error)));
    const replies = full.turns.filter(([side]) => side === "solver");
    const last = replies.length ? full.text(replies[replies.length - 1][1]) : "(no reply)";
    const answers = make("div", undefined, "two");
    answers.append(section("Expected", make("pre", full.expected)), section("Read from the reply", make("pre", full.read)));
    content.push(section(replies.length > 1 ? "Last reply" : "Reply", highlighted(last, [])), answers);
    const about = (name) => (data.metrics[attempt.benchmark][name] ? ` (${data.metrics[attempt.benchmark][name]})` : "");
    const scores = Object.entries(full.scores).map(([name, value]) => `${name} ${Number(value.toFixed(3))}${about(name)}`);
    if (scores.length) content.push(make("p", scores.join("; "), "quiet"));
    const marks = full.marks.map(full.text);
    if (marks.length) {
      const legend = make("p", undefined, "quiet");
      legend.append(make("mark", "Highlighted"), " in the prompt: what leads to the expected answer.");
      content.push(legend);
    }
    const names = { system: "System", environment: "Prompt", solver: "Reply", observer: "Ideal observer" };
    const turns = make("div", undefined, "turns");
    for (const [side, text] of full.turns) {
      if (side === "solver" && replies.length === 1) continue;
      turns.append(make("h3", names[side]));
      if (side === "observer") turns.append(make("p", full.text(text), "quiet"));
      else turns.append(highlighted(full.text(text), side === "environment" ? marks : []));
      if (side === "environment") names.environment = "Response";
    }
    byId("item").replaceChildren(...content, turns);
    byId("item").scrollTop = 0;
  }

  function go(number) {
    const next = Math.min(Math.max(number, 0), shown.length - 1);
    if (next === position) return;
    position = next;
    show();
    history.replaceState(null, "", link(shown[position]));
  }

  // A permalink shows its attempt among all of them; a link of a cell sets the filters.
  function follow() {
    const query = location.hash.startsWith("#items?") ? new URLSearchParams(location.hash.slice(7)) : null;
    const number = attempts.findIndex((attempt) => link(attempt) === location.hash);
    if (!query && number < 0) return;
    byId("search").value = "";
    filters.forEach((name) => { byId("filter-" + name).value = ""; });
    filter();
    for (const name of query ? filters : []) {
      byId("filter-" + name).value = query.get(name) || "";
      filter();
    }
    position = query ? 0 : number;
    show();
    byId("items").scrollIntoView({ behavior: "instant" });
  }

  function save(name, text, type) {
    const anchor = make("a");
    anchor.href = URL.createObjectURL(new Blob([text], { type }));
    anchor.download = name;
    anchor.click();
    URL.revokeObjectURL(anchor.href);
  }

  function plain(attempt) {
    const { marks, text, ...rest } = whole(attempt);
    return { ...rest, turns: rest.turns.map(([side, number]) => ({ side, text: text(number) })) };
  }

  // A cell that a spreadsheet would run as a formula begins with a quote.
  const cell = (value) => `"${String(value ?? "").replace(/^[=+\-@\t\r]/, "'$&").replaceAll('"', '""')}"`;

  byId("save-jsonl").addEventListener("click", () => load(shown).then(() =>
    save("attempts.jsonl", shown.map((attempt) => JSON.stringify(plain(attempt)) + "\n").join(""), "application/jsonl")));
  byId("save-csv").addEventListener("click", () => load(shown).then(() => {
    const names = ["benchmark", "setting", "solver", "seed", "id", "trial", "kind", "expected", "read", "tokens", "error"];
    const rows = shown.map(whole);
    const scores = [...new Set(rows.flatMap((row) => Object.keys(row.scores)))];
    const table = rows.map((row) => [...names.map((name) => row[name]), ...scores.map((name) => row.scores[name])]);
    save("attempts.csv", [[...names, ...scores], ...table].map((row) => row.map(cell).join(",")).join("\r\n"), "text/csv");
  }));
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
