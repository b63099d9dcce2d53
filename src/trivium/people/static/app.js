"use strict";
// The page: it shows the screen that the server sends and sends one numbered step at a time.
// A step that got no reply is sent again with the same number, so nothing counts twice.
// A drawn page has a script of its own, whose functions are used where a view has such parts.

const main = document.getElementById("main");
const notice = document.getElementById("notice");
const spoken = document.getElementById("spoken");
const listenButton = document.getElementById("listen");
listenButton.addEventListener("click", () => readAloud(view.speak));
const soundButton = document.getElementById("sound");
const visit = Array.from(crypto.getRandomValues(new Uint8Array(8)), (byte) => byte.toString(16).padStart(2, "0")).join("");
let token = "", view = null, busy = "", events = [], eventNumber = 0;
let shownAt = 0, mark = 0; // when the screen appeared, and when the time of the next step begins
let stayed = false; // whether the screen is the one before, after a press
const waiting = []; // moves of things that are shown already and still have to be sent

function make(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (typeof value === "boolean") node.toggleAttribute(name, value);
    else if (value !== null && value !== undefined) node.setAttribute(name, value);
  }
  node.append(...children.filter((child) => child !== null && child !== undefined));
  return node;
}

function draw(tag, attributes, ...children) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children);
  return node;
}

// ---- Talking to the server

const post = (body) => ({ method: "POST", headers: { "Content-Type": "application/json", "X-Token": token }, body: JSON.stringify(body) });

async function request(path, body) {
  for (let wait = 500; ; wait = Math.min(8000, wait * 2)) {
    try {
      const response = await fetch(path, body === undefined ? {} : post(body));
      if (response.status < 500 && response.status !== 429) {
        // A body that breaks off is a lost connection too.
        const reply = path === "./" ? {} : await response.json();
        notice.hidden = true;
        return { status: response.status, ok: response.ok, reply };
      }
    } catch { /* the connection is lost: try again below */ }
    notice.textContent = view ? view.errors.connection : "\u2026";
    notice.hidden = false;
    await new Promise((resolve) => setTimeout(resolve, wait));
  }
}

async function load() {
  let response = await request("api/state");
  if (!response.ok) {
    await request("./"); // sets the cookie anew
    response = await request("api/state");
  }
  if (!response.ok) {
    main.textContent = "Please allow cookies and reload the page.";
    return;
  }
  token = response.reply.token;
  show(response.reply.view);
}

async function send(kind, value = null, at = performance.now()) {
  if (busy) {
    // Things can be moved while a step is under way; a second press of the same button is none.
    const last = waiting.length ? waiting.at(-1)[0] : busy;
    if (kind === "toggle" || (kind === "press" && last !== "press")) waiting.push([kind, value, at]);
    return;
  }
  busy = kind;
  const seconds = Math.max(0, at - mark) / 1000;
  mark = at;
  const body = { number: view.number, kind, value, seconds, time: Date.now() / 1000, events: events.splice(0, 100) };
  const { status, reply } = await request("api/step", body);
  busy = ""; // not before the new number is known: what is pressed meanwhile waits
  if (status !== 200) waiting.length = 0;
  if (status === 403) await load(); // another tab has opened another link, or cookies are lost
  if (reply.view) {
    for (const [later, id] of waiting) if (later === "toggle") flip(reply.view, id);
    // Nothing is drawn anew under a finger that is about to press the next thing.
    const drawn = kind === "toggle" && JSON.stringify(reply.view.machine) === JSON.stringify(view.machine);
    if (drawn && reply.view.screen === view.screen) view = reply.view;
    else show(reply.view, kind);
  }
  if (reply.error && !reply.view) { notice.textContent = view.errors.other; notice.hidden = false; }
  const next = waiting.shift();
  if (next) send(...next);
}

// A second tap on a button is not meant for the screen that has just replaced it.
main.addEventListener("click", (event) => {
  // Things can be moved at once after a press, which keeps the screen.
  if (!view || performance.now() - shownAt >= view.guard || (stayed && event.target.closest(".thing"))) return;
  event.preventDefault();
  event.stopPropagation();
  note("early_tap", view.screen);
}, true);

function note(kind, detail = "") {
  events.push({ page: visit, number: eventNumber++, kind, detail: String(detail), time: Date.now() / 1000 });
}

function flush() {
  if (!events.length || !token) return;
  fetch("api/events", { keepalive: true, ...post({ events: events.splice(0, 100) }) }).catch(() => {});
}

document.addEventListener("visibilitychange", () => { note(document.visibilityState); if (document.hidden) flush(); });
window.addEventListener("blur", () => note("blur"));
window.addEventListener("focus", () => note("focus"));
window.addEventListener("pagehide", flush);
window.addEventListener("pageshow", (event) => { if (event.persisted) load(); }); // the back button
document.addEventListener("paste", (event) => note("paste", (event.clipboardData?.getData("text") || "").length));
setInterval(flush, 15000);

// ---- Screens

function show(next, kind = "") {
  const before = view;
  if (kind !== "toggle") shownAt = mark = performance.now();
  const focus = document.activeElement?.dataset.focus;
  view = next;
  document.documentElement.lang = view.language || "en";
  const moved = before && before.screen === view.screen && view.machine;
  stayed = Boolean(moved) && view.movable === true;
  const heading = make("h1", { tabindex: "-1" }, view.title);
  document.title = view.title;
  const parts = [view.preview ? make("p", { class: "preview" }, view.preview) : null, view.eyebrow ? make("p", { class: "eyebrow" }, view.eyebrow) : null, heading];
  for (const text of view.paragraphs || []) parts.push(make("p", { class: "lead" }, text));
  const rules = view.rules && view.rules.length ? make("ul", { class: "rules" }, ...view.rules.map((rule) => make("li", {}, rule))) : null;
  if (!view.machine) parts.push(rules);
  if (view.picture) parts.push(machine(view.picture, false));
  if (view.thing) parts.push(make("div", { class: "asked" }, drawThing(view.thing.shape)));
  if (view.machine) parts.push(machine(view.machine, Boolean(view.movable)));
  if (view.questions) parts.push(questions());
  if (view.messages) parts.push(puzzle());
  if (view.codes) parts.push(...view.codes.map(codeBox));
  if (view.buttons) parts.push(make("div", { class: "buttons" }, ...view.buttons.map(button)));
  if (view.page) parts.push(make("p", { class: "dots", role: "img", "aria-label": view.page.join(" / ") }, ...dots(view.page)));
  if (view.link) parts.push(make("p", { class: "buttons" }, make("a", { class: "main", href: view.link.url, rel: "noreferrer" }, view.link.label)));
  if (view.machine) parts.push(rules); // below what is pressed, which needs no scrolling then
  if (view.history && view.history.length) parts.push(testList(view.history_title, view.history));
  if (view.examples) parts.push(make("div", { class: "examples" }, ...view.examples.map((one) => testList(one.title, one.tests))));
  if (view.screen === "paused") setTimeout(load, 10000);
  if (view.text.next_child) parts.push(make("div", { class: "buttons" }, make("button", { type: "button", class: "plain", onclick: nextChild }, view.text.next_child)));
  main.className = `screen-${view.screen}`;
  document.body.className = view.audience || "";
  main.replaceChildren(...parts.filter(Boolean));
  const shown = view.machine || view.picture;
  soundButton.hidden = !shown;
  const same = moved && focus && main.querySelector(`[data-focus="${focus}"]`);
  if (same) same.focus({ preventScroll: true });
  else if (before) { heading.focus({ preventScroll: true }); window.scrollTo(0, 0); }
  if (shown) machineShown(shown, kind);
  listenButton.hidden = !view.speak;
  if (view.speak && kind !== "toggle") {
    listenButton.replaceChildren(icon("listen"), make("span", {}, view.text.listen));
    // After a press the light is read, and what else is new on the screen.
    const old = kind === "press" && before ? before.speak.map((one) => one.text) : [];
    const light = kind === "press" && shown ? view.speak.slice(-1) : [];
    readAloud([...light, ...view.speak.filter((one) => !old.includes(one.text) && !light.includes(one))]);
  }
}

// ---- Reading aloud, to children: recordings, else the browser's voice; the text is always shown

let reading = 0, voice = null; // the number of the screen being read, and what plays

async function readAloud(sentences) {
  const mine = ++reading;
  if (voice) voice.pause();
  window.speechSynthesis?.cancel();
  const point = (text) => main.querySelectorAll("legend, label, button").forEach((part) => part.classList.toggle("spoken", text !== "" && part.textContent === text));
  for (const one of sentences) {
    point(one.text); // who cannot read sees which answer is meant
    const how = (view.recorded && one.file && await playRecording(one.file)) ? "recording" : await speak(one.text);
    if (mine !== reading) return;
    if (one === sentences[0]) note("read_aloud", how);
    if (how === "none") break;
  }
  point("");
}

function playRecording(file) {
  return new Promise((resolve) => {
    voice = new Audio(`audio/${file}`);
    voice.onended = voice.onpause = () => resolve(true);
    voice.onerror = () => resolve(false);
    voice.play().catch(() => resolve(false));
  });
}

function speak(text) {
  return new Promise((resolve) => {
    if (!window.speechSynthesis) return resolve("none");
    const said = new SpeechSynthesisUtterance(text);
    said.lang = view.language;
    said.rate = 0.9;
    said.onend = () => resolve("voice");
    said.onerror = () => resolve("none");
    speechSynthesis.speak(said);
    setTimeout(() => resolve(speechSynthesis.speaking ? "voice" : "none"), 1500 + 90 * text.length);
  });
}

async function nextChild() {
  if (busy) return;
  busy = "next_child";
  const response = await request("api/next-child", {});
  busy = "";
  if (response.ok) load();
}

function button(one) {
  const kind = one.choice ? `choice${one.label.length > 24 ? " wide" : ""}` : one.main ? "main" : "plain";
  return make("button", { type: "button", class: kind, "data-focus": `button-${one.kind}`, "data-value": String(one.value ?? ""), onclick: () => send(one.kind, one.value ?? null) },
    one.pattern ? drawMachine(one.pattern, false) : view.speak && ICONS[one.icon] ? icon(one.icon) : null, make("span", {}, one.label));
}

// Pictures on the buttons of children: paths in a square of 24.
const ARROW = "M5 12h12M12 6l6 6-6 6", TICK = "M4 13l5 5L20 6", CROSS = "M6 6l12 12M18 6L6 18";
const ICONS = { next: ARROW, start: ARROW, more: "M2 12q10-9 20 0q-10 9-20 0zM12 9.5a2.5 2.5 0 1 0 .1 0z", agree: TICK, yes: TICK, finish: TICK, decline: CROSS, no: CROSS,
  check: "M12 3v9M7 6.5a7.5 7.5 0 1 0 10 0", unsure: "M8.5 9a3.5 3.5 0 1 1 5 3.2q-1.5.8-1.5 2.3M12 18.5v.5", retry_full: ARROW, retry_declined: ARROW,
  listen: "M4 9v6h4l5 4V5L8 9zM16.5 9a4 4 0 0 1 0 6" };

function icon(name) {
  return draw("svg", { viewBox: "0 0 24 24", class: "icon", "aria-hidden": "true" }, draw("path", { d: ICONS[name] }));
}

function dots([now, all]) {
  return Array.from({ length: all }, (_, index) => make("span", { class: index < now ? "dot full" : "dot" }));
}

function codeBox(one) {
  return make("div", { class: "code" }, make("p", { class: "code-label" }, one.label), make("p", { class: "code-text" }, one.code), one.note ? make("p", {}, one.note) : null);
}

// ---- Forms

function questions() {
  const form = make("form", { novalidate: true });
  for (const one of view.questions) {
    if (one.kind === "choice") {
      const options = one.options.map((option, index) => make("label", { class: "option" },
        make("input", { type: "radio", name: one.id, value: String(index) }),
        view.speak && one.pictures && one.pictures.length ? checkPicture(one.pictures[index]) : null, make("span", {}, option)));
      form.append(make("fieldset", {}, make("legend", {}, one.text), make("div", { class: "options" }, ...options)));
    } else {
      const id = `question-${one.id}`;
      form.append(make("div", { class: "field" }, make("label", { for: id }, one.text), make("input", { id, name: one.id, type: "text", maxlength: "500", autocomplete: "off" })));
    }
  }
  const missing = make("p", { class: "missing", role: "alert" });
  form.append(missing, make("div", { class: "buttons" }, make("button", { type: "submit", class: "main" }, view.speak ? icon("next") : null, make("span", {}, view.text.next))));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const data = new FormData(form), answers = {}, chosen = [];
    let complete = true;
    for (const one of view.questions) {
      const value = data.get(one.id);
      if (!value && !one.optional) complete = false;
      chosen.push(Number(value));
      if (value) answers[one.id] = one.kind === "choice" ? one.options[Number(value)] : value;
    }
    missing.textContent = complete ? "" : view.missing;
    if (complete) send(view.screen, view.screen === "check" ? chosen : answers);
  });
  return form;
}

function puzzle() {
  const form = make("form", { novalidate: true });
  const texts = view.messages.map((text, index) => text ? make("div", { class: index % 2 ? "prompt own" : "prompt", tabindex: "0", lang: "en" }, text) : null);
  const box = make("textarea", { id: "reply", rows: "4", maxlength: String(view.limit), spellcheck: "false" });
  const missing = make("p", { class: "missing", role: "alert" });
  form.append(...texts.filter(Boolean), make("label", { for: "reply" }, view.label), box, missing,
    make("div", { class: "buttons" }, make("button", { type: "submit", class: "main" }, make("span", {}, view.send))));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    missing.textContent = box.value.trim() ? "" : view.missing;
    if (box.value.trim()) send("reply", box.value);
  });
  return form;
}

load();
