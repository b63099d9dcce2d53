"use strict";
// The machine of a game, its things and its light; app.js calls this and sends the steps.

let soundNoted = false; // the setting was recorded on this visit

// Children hear the machine unless the sound was turned off.
function soundOn() {
  return (localStorage.getItem("sound") || (view.audience === "children" ? "on" : "off")) === "on";
}

let tapped = { id: "", x: 0, y: 0, at: -Infinity }; // the last thing that was tapped, and where

function machine(state, movable) {
  const plate = make("div", { class: "plate" }), tray = make("div", { class: "tray" });
  for (const thing of state.things) {
    const place = thing.on ? plate : tray;
    if (!movable) {
      place.append(make("span", { class: "thing", role: "img", "aria-label": thing.label }, drawThing(thing.shape)));
      continue;
    }
    const node = make("button", { type: "button", class: "thing", "aria-pressed": String(thing.on), "aria-label": thing.label, "data-focus": `thing-${thing.id}`, "data-thing": thing.id }, drawThing(thing.shape));
    const dragged = drag(node, thing);
    node.addEventListener("click", (event) => { if (!dragged() && !repeated(thing.id, event)) toggle(thing.id); });
    place.append(node);
  }
  const words = state.lit === null ? "" : state.words;
  const box = make("div", { class: `machine${state.lit ? " lit" : ""}`, role: "group", "aria-label": state.name }, drawMachine(state.pattern, state.lit === true), plate);
  return make("div", { class: "table" }, box, make("p", { class: `light ${state.lit ? "on" : "off"}`, "aria-hidden": "true" }, words), tray);
}

function flip(state, id) {
  const thing = state.machine && state.machine.things.find((one) => one.id === id);
  if (!thing) return;
  thing.on = !thing.on;
  state.machine.lit = null;
}

function toggle(id) {
  flip(view, id); // shown at once; the server's answer follows
  show(view, "toggle");
  send("toggle", id);
}

// Whether a tap is the second one on a thing, or on the thing that has moved to its place.
function repeated(id, { detail, clientX: x, clientY: y }) {
  const near = detail > 0 && Math.hypot(x - tapped.x, y - tapped.y) < 40; // a key has no place
  const again = (near || tapped.id === id) && performance.now() - tapped.at < view.guard;
  tapped = { id, x, y, at: performance.now() };
  return again;
}

function drag(node, thing) {
  let start = null, moving = false, ended = -1000;
  node.addEventListener("pointerdown", (event) => { start = [event.clientX, event.clientY]; moving = false; node.setPointerCapture(event.pointerId); });
  node.addEventListener("pointermove", (event) => {
    if (!start) return;
    const x = event.clientX - start[0], y = event.clientY - start[1];
    if (!moving && Math.hypot(x, y) < 10) return;
    moving = true;
    node.classList.add("dragged");
    node.style.transform = `translate(${x}px, ${y}px)`;
  });
  const end = (event) => {
    if (!start) return;
    start = null;
    node.classList.remove("dragged");
    node.style.transform = "";
    if (!moving) return;
    ended = performance.now();
    const box = main.querySelector(".machine").getBoundingClientRect();
    const over = event.clientX > box.left && event.clientX < box.right && event.clientY > box.top && event.clientY < box.bottom;
    note("drag", thing.id);
    if (over !== thing.on) toggle(thing.id);
  };
  node.addEventListener("pointerup", end);
  node.addEventListener("pointercancel", () => { start = null; node.classList.remove("dragged"); node.style.transform = ""; });
  return () => performance.now() - ended < 300; // a click that ends a drag is none
}

// ---- Light and sound

function machineShown(shown, kind) {
  soundButton.textContent = view.text[soundOn() ? "sound_on" : "sound_off"];
  if (!soundNoted) note("sound", soundOn() ? "on" : "off");
  soundNoted = true;
  if (shown.lit === null || (kind !== "press" && kind !== "next")) return;
  spoken.textContent = "";
  spoken.textContent = shown.words;
  if (shown.lit) chime();
}

let soundAt = -Infinity; // when the sound was last changed: a double tap changes it once
document.getElementById("sound").addEventListener("click", () => {
  if (performance.now() - soundAt < view.guard) return;
  soundAt = performance.now();
  localStorage.setItem("sound", soundOn() ? "off" : "on");
  note("sound", soundOn() ? "on" : "off");
  soundButton.textContent = view.text[soundOn() ? "sound_on" : "sound_off"];
  chime();
});

function chime() {
  if (!soundOn()) return;
  const context = new AudioContext();
  [523, 659, 784, 1047].forEach((pitch, index) => {
    const tone = context.createOscillator(), volume = context.createGain();
    tone.frequency.value = pitch;
    volume.gain.setValueAtTime(0.12, context.currentTime + 0.12 * index);
    volume.gain.exponentialRampToValueAtTime(0.001, context.currentTime + 0.12 * index + 0.3);
    tone.connect(volume).connect(context.destination);
    tone.start(context.currentTime + 0.12 * index);
    tone.stop(context.currentTime + 0.12 * index + 0.3);
  });
}

// The picture of an option: things on a machine, or things alone.
function checkPicture(one) {
  const things = make("span", { class: "tested" }, ...one.things.map(drawThing));
  return make("span", { class: "check-picture" }, things, one.pattern ? drawMachine(one.pattern, one.lit) : null);
}

function testList(title, tests) {
  const rows = tests.map((test) => make("li", { class: test.lit ? "lit" : "dark" },
    make("span", { class: "tested" }, ...(test.things.length ? test.things.map((thing) => {
      const picture = drawThing(thing.shape);
      picture.removeAttribute("aria-hidden");
      picture.setAttribute("role", "img");
      picture.setAttribute("aria-label", thing.label);
      return picture;
    }) : [test.empty])),
    make("span", { class: "bulb", "aria-hidden": "true" }), make("span", {}, test.words)));
  return make("section", { class: "history" }, make("h2", {}, title), make("ol", {}, ...rows));
}
