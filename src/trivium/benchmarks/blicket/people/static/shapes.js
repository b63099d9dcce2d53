"use strict";
// Drawn things and machines, as SVG elements (`draw` is in app.js); no picture is loaded.

// Each thing is a list of [tag, attributes]; "light" and "dark" are sides of the same colour.
const THINGS = {
  pyramid: [["polygon", "50,10 12,84 62,90", "#3f7fd6"], ["polygon", "50,10 62,90 88,74", "#2a5aa3"]],
  cube: [["polygon", "50,10 86,28 50,46 14,28", "#7fd08a"], ["polygon", "14,28 50,46 50,90 14,70", "#3fa552"], ["polygon", "86,28 50,46 50,90 86,70", "#2b7d3b"]],
  sphere: [["circle", [50, 50, 38], "#f2872f"], ["ellipse", [38, 36, 12, 8], "#ffc48c"]],
  cylinder: [["path", "M16 26 V76 A34 13 0 0 0 84 76 V26 Z", "#e8b90c"], ["ellipse", [50, 26, 34, 13], "#ffe27a"]],
  cone: [["path", "M50 8 L16 78 A34 12 0 0 0 84 78 Z", "#8a52c7"], ["path", "M50 8 L58 89 A34 12 0 0 0 84 78 Z", "#6a37a3"]],
  dome: [["path", "M12 72 A38 52 0 0 1 88 72 Z", "#d93b3b"], ["ellipse", [50, 72, 38, 12], "#a82525"], ["ellipse", [38, 40, 9, 7], "#f49a9a"]],
  prism: [["polygon", "30,18 8,82 52,82", "#37b3ac"], ["polygon", "30,18 72,10 94,70 52,82", "#1f7f7a"]],
  frustum: [["path", "M14 24 L28 80 A22 9 0 0 0 72 80 L86 24 Z", "#e773ae"], ["ellipse", [50, 24, 36, 13], "#f9b6d6"]],
  torus: [["path", "M50 20 A40 30 0 1 0 50.1 20 Z M50 42 A15 10 0 1 1 49.9 42 Z", "#8d5a35"], ["path", "M22 38 A34 24 0 0 1 62 26", null, "#c08c63"]],
  star: [["polygon", "50,6 62,38 96,38 68,58 79,92 50,71 21,92 32,58 4,38 38,38", "#dba514"], ["polygon", "50,6 62,38 50,52 38,38", "#ffd95e"]],
  hexagon: [["polygon", "50,8 88,29 88,71 50,92 12,71 12,29", "#2f3d7e"], ["polygon", "50,8 88,29 50,50 12,29", "#5668b8"]],
  drop: [["path", "M50 6 C72 40 82 52 82 66 A32 30 0 0 1 18 66 C18 52 28 40 50 6 Z", "#7db52a"], ["ellipse", [38, 64, 7, 12], "#c6e68c"]],
  heart: [["path", "M50 90 C8 58 6 36 18 24 C32 10 46 20 50 32 C54 20 68 10 82 24 C94 36 92 58 50 90 Z", "#fdf6f8", "#b9788c"], ["ellipse", [30, 36, 7, 9], "#f1cfd9"]],
  moon: [["path", "M64 8 A44 44 0 1 0 92 66 A36 36 0 1 1 64 8 Z", "#8e939c"], ["circle", [36, 56, 6], "#6d727b"], ["circle", [50, 76, 4], "#6d727b"]],
};

function part([tag, shape, fill, stroke]) {
  const paint = { fill: fill || "none", stroke: stroke || (fill ? "rgba(0,0,0,.28)" : "none"), "stroke-width": stroke && !fill ? 6 : 2, "stroke-linejoin": "round", "stroke-linecap": "round", "fill-rule": "evenodd" };
  if (tag === "polygon") return draw(tag, { points: shape, ...paint });
  if (tag === "path") return draw(tag, { d: shape, ...paint });
  if (tag === "circle") return draw(tag, { cx: shape[0], cy: shape[1], r: shape[2], ...paint });
  return draw(tag, { cx: shape[0], cy: shape[1], rx: shape[2], ry: shape[3], ...paint });
}

function drawThing(shape) {
  return draw("svg", { viewBox: "0 0 100 100", "aria-hidden": "true", class: "thing-picture" }, ...THINGS[shape].map(part));
}

const COLOURS = { practice: "#7d8597", striped: "#4b4a8a", dotted: "#9a4a52", new: "#2c6e63" };

function pattern(name) {
  const marks = [];
  if (name === "striped") for (let x = 40; x < 300; x += 36) marks.push(draw("polygon", { points: `${x},128 ${x + 16},128 ${x + 2},196 ${x - 14},196` }));
  if (name === "dotted") for (let row = 0; row < 3; row++) for (let x = 42 + 14 * (row % 2); x < 296; x += 28) marks.push(draw("circle", { cx: x, cy: 140 + 22 * row, r: 6 }));
  if (name === "new") for (let row = 0; row < 4; row++) for (let x = 30 + 17 * (row % 2); x < 300; x += 34) marks.push(draw("rect", { x, y: 128 + 17 * row, width: 17, height: 17 }));
  return draw("g", { fill: "rgba(255,255,255,.3)" }, ...marks);
}

// The box, its plate and its lamp; things on the plate are buttons that lie over it.
function drawMachine(name, lit) {
  const colour = COLOURS[name] || COLOURS.practice;
  const rays = [];
  if (lit) for (let i = 0; i < 12; i++) {
    const angle = (Math.PI * i) / 6, x = Math.cos(angle), y = Math.sin(angle);
    rays.push(draw("line", { x1: 165 + 34 * x, y1: 228 + 34 * y, x2: 165 + 44 * x, y2: 228 + 44 * y }));
  }
  const lamp = draw("circle", { cx: 165, cy: 228, r: 24, class: "lamp", fill: lit ? "#ffd633" : "#3b3f46", stroke: lit ? "#fff3b0" : "#22252a", "stroke-width": 5 });
  return draw("svg", { viewBox: "0 0 330 282", "aria-hidden": "true", class: "machine-picture" },
    draw("rect", { x: 22, y: 114, width: 286, height: 160, rx: 22, fill: colour }),
    pattern(name),
    draw("rect", { x: 22, y: 196, width: 286, height: 78, rx: 22, fill: "rgba(0,0,0,.24)" }),
    draw("rect", { x: 6, y: 98, width: 318, height: 24, rx: 12, fill: "#d9dde4", stroke: "#aab1bd", "stroke-width": 2 }),
    draw("g", { stroke: "#ffd633", "stroke-width": 6, "stroke-linecap": "round", class: "rays" }, ...rays),
    lamp);
}
