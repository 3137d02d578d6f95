/* Brings the parts together: the scene changes, the server is asked, and plane, learner and proof are drawn anew. */

import * as api from "./api.js";
import { Learner } from "./learner.js";
import { Plane } from "./plane.js";
import { ProofPanel, save } from "./proof.js";
import { Scene } from "./state.js";

const byId = (id) => document.getElementById(id);
const say = (text) => { byId("status").textContent = text; };
const scene = new Scene();
const plane = new Plane(byId("plane"), scene, () => Number(document.querySelector("input[name=label]:checked").value), say);
const panel = new ProofPanel(scene);
let learner = null;
let asked = 0;
let waiting = null;

function draw() {
  plane.drawPoints();
  const { proof } = panel;
  const weights = learner.weights;
  const { last } = learner;
  const behind = [], lines = [], marks = [];
  if (proof !== null && proof.gap !== null) {
    const { line, lower, support } = proof.gap;
    behind.push(plane.band(line.w, line.b, lower * Math.hypot(...line.w)), plane.line(line.w, line.b, "boundary widest"));
    marks.push(...support.map((k) => plane.ring(k, "support")));
  }
  if (proof !== null && proof.witness.length > 0) {
    const own = (label) => proof.witness.filter((k) => scene.points[k]?.label === label);
    behind.push(plane.hull(own(1), "plus-mark"), plane.hull(own(-1), "minus-mark"));
    marks.push(...proof.witness.map((k) => plane.ring(k, "witness")));
  }
  if (proof !== null && proof.mistakes !== null) marks.push(...proof.mistakes.rows.map((k) => plane.ring(k, "wrong", 18)));
  if (last !== null && last.mistake) lines.push(plane.line(...last.before, "boundary old"));
  if (weights !== null) lines.push(plane.line(...weights, "boundary"));
  if (last !== null) marks.push(plane.ring(last.row, "current", 11));
  plane.draw(behind, lines, marks);
  panel.showBound(learner);
  byId("undo").disabled = !scene.canUndo;
  byId("redo").disabled = !scene.canRedo;
  byId("code").textContent = python();
}

/** Ask the server about the scene; of answers that overtake each other the last question counts. */
async function refresh() {
  const number = ++asked;
  if (new Set(scene.points.map(({ label }) => label)).size < 2) {
    learner.set(null);
    panel.set(null, "There must be points of both classes.");
    return;
  }
  const question = scene.asJson();
  try {
    const [run, proof] = await Promise.all([api.run(question), api.proof(question)]);
    if (number !== asked) return;
    learner.set(run);
    panel.set(proof);
    say("");
  } catch (error) {
    if (number !== asked) return;
    learner.set(null);
    panel.set(null, error.message);
  }
  draw();
}

function changed() {
  if (learner === null) return;
  panel.set(null, "Deciding…"); // what was proved is no longer about these points
  learner.run = null;
  learner.say();
  draw();
  clearTimeout(waiting);
  waiting = setTimeout(refresh, plane.drag === null ? 0 : 60);
}

function python() {
  const rows = scene.points.map(({ x, y }) => `(${x}, ${y})`).join(", ");
  const labels = scene.points.map(({ label }) => label).join(", ");
  const words = Object.entries(scene.choices).map(([name, value]) =>
    `${name}=${typeof value === "boolean" ? (value ? "True" : "False") : JSON.stringify(value)}`).join(", ");
  return `from separatrix import Perceptron, separability, step_trace\n\nX = [${rows}]\ny = [${labels}]\n` +
    `print(step_trace(Perceptron(${words}), X, y, positive=1))\n` +
    `print(separability(X, y, intercept=${scene.choices.fit_intercept ? "True" : "False"}))\n`;
}

function show(preset) {
  scene.axes = preset.axes;
  byId("about").textContent = preset.about;
  plane.selected = -1;
  learner.look = 0;
  scene.replace(structuredClone(preset.points));
  plane.fit();
  draw();
}

function shared() {
  const found = /(?:^#|&)scene=([^&]*)/.exec(location.hash);
  if (found === null) return null;
  try {
    return Scene.read(decodeURIComponent(found[1]));
  } catch {
    say("The link does not hold a scene.");
    return null;
  }
}

async function begin() {
  let first;
  try {
    first = await api.start();
  } catch (error) {
    say(`The lab cannot be reached: ${error.message}`);
    return;
  }
  const { presets, choices, recipes } = first;
  learner = new Learner(scene, choices, recipes);
  byId("preset").append(...presets.map(({ name, title }) => new Option(title, name)));
  byId("preset").addEventListener("change", (event) => show(presets.find(({ name }) => name === event.target.value)));
  learner.addEventListener("look", draw);
  scene.addEventListener("change", changed);
  const on = (id, act) => byId(id).addEventListener("click", act);
  on("delete", () => plane.removeSelected());
  on("undo", () => scene.undo());
  on("redo", () => scene.redo());
  on("clear", () => scene.replace([]));
  on("export-json", () => save("scene.json", JSON.stringify(scene.asJson(), null, 1), "application/json"));
  on("export-svg", () => save("scene.svg", new XMLSerializer().serializeToString(byId("plane")), "image/svg+xml"));
  on("link", () => {
    history.replaceState(null, "", `#scene=${encodeURIComponent(JSON.stringify(scene.asJson()))}`);
    say("The address of this page now holds the scene.");
  });
  const given = shared();
  if (given === null) {
    show(presets[0]);
    return;
  }
  for (const [name, value] of Object.entries(given.choices)) {
    if (name in scene.choices && typeof value === typeof scene.choices[name]) scene.choices[name] = value;
  }
  learner.fill();
  show({ points: given.points, axes: ["x", "y"], about: "from a link" });
}

await begin();
document.documentElement.dataset.ready = "yes";
