/* Brings the parts together: the scene changes, the server is asked, and plane and panels are drawn anew. */

import { ask, begin as offered, isQuick, isServed, stream } from "./api.js";
import { BeThePerceptron } from "./be.js";
import { boundary } from "./boundary.js";
import { Compare } from "./compare.js";
import { DescentPanel } from "./descent.js";
import { featureForm, sayColumns } from "./features.js";
import { Hand } from "./hand.js";
import { Learner } from "./learner.js";
import { LessonPanel } from "./lesson_panel.js";
import { ProofPanel } from "./proof.js";
import { fragmentOf, python, sharedScene, shareForm } from "./share.js";
import "./separatrix-plane.js";
import { byId } from "./shapes.js";
import { Squeeze } from "./squeeze.js";
import { Scene } from "./state.js";
import { Study } from "./study.js";
import { TableForm } from "./table.js";
import { Tabs } from "./tabs.js";

const say = (text) => { byId("status").textContent = text; };
const scene = new Scene();
const plane = byId("stage").begin(scene, () => Number(document.querySelector("input[name=label]:checked").value), say);
const proofs = new ProofPanel(scene);
const study = new Study(scene);
const descent = new DescentPanel(scene);
const tabs = new Tabs(byId("tabs"));
const later = () => { frame ??= requestAnimationFrame(draw); };
const hand = new Hand(plane, scene, later);
const squeeze = new Squeeze(scene, later);
let learner, compare, lessons, first, be;
let asked = 0; // the number of the last question; answers to earlier ones are not used
let answered = 0;
let panels = 0; // questions of panels without an answer yet
let waiting = null, timer = null, addressed = null;
let begun = false, altered = false; // whether the scene is another than the page began with
let frame = null;
let stale = new Set(["learners", "validation", "descent"]); // panels whose answers are not about this scene
let fits = null;

/** The plane: points, and what the open panel has to show of them. */
function draw() {
  frame = null;
  if (answered === asked && panels === 0) document.documentElement.dataset.state = "answered";
  plane.held = new Set(fits?.held ?? []);
  if (plane.drag === null) plane.drawPoints();
  else plane.drawPoint(plane.drag.index);
  const parts = { hand: handShown, learners: compareShown, validation: studyShown, descent: descentShown }[tabs.name] ?? runShown;
  plane.draw(...parts());
  squeeze.show(proofs.proof, learner);
  hand.say(proofs.proof, learner);
  byId("undo").disabled = !scene.canUndo;
  byId("redo").disabled = !scene.canRedo;
  if (tabs.name === "share") byId("code").textContent = python(scene, proofs.proof?.columns ?? null, fits?.held ?? [], first.learners);
  lessons.look();
}

function runShown() {
  const { proof } = proofs;
  const { last, weights, run } = learner;
  const behind = [], lines = [], marks = [];
  const columns = proof?.columns ?? null;
  if (proof !== null && proof.gap !== null && !be.on) {
    const { line, lower, edges } = proof.gap;
    const reach = lower * Math.hypot(...line.w);
    if (scene.bent) behind.push(...[-reach, reach].map((level) => boundary(plane, line, columns, "edge", { level })));
    else behind.push(plane.band(line, reach));
    behind.push(boundary(plane, line, columns, "boundary widest"));
    marks.push(...edges.map((k) => plane.ring(k, "support")));
  }
  if (proof !== null && proof.witness.length > 0) {
    const own = (label) => proof.witness.filter((k) => scene.points[k]?.label === label);
    const through = !scene.choices.fit_intercept;
    if (!scene.bent) behind.push(plane.hull(own(1), "plus-mark", through), plane.hull(own(-1), "minus-mark", through));
    marks.push(...proof.witness.map((k) => plane.ring(k, "witness")));
  }
  if (proof !== null && proof.mistakes !== null) marks.push(...proof.mistakes.rows.map((k) => plane.ring(k, "wrong", 18)));
  if (last !== null && last.mistake) lines.push(boundary(plane, last.before, run.columns, "boundary old"));
  if (weights !== null) lines.push(boundary(plane, weights, run.columns, "boundary"));
  if (last !== null) marks.push(plane.ring(last.row, "current", 11));
  return [behind, lines, marks];
}

/** Only the line in the hand, with the halfspaces that it makes. */
function handShown() {
  const { behind, marks } = hand.drawn();
  return [behind, [boundary(plane, plane.handles.held, null, "boundary")], marks];
}

function compareShown() {
  if (stale.has("learners")) return [[], [], []];
  const { behind, lines } = compare.drawn(plane);
  return [behind, lines, []];
}

function studyShown() {
  if (stale.has("validation")) return [[], [], []];
  const { lines, marks } = study.drawn(plane);
  return [[], lines, marks];
}

const descentShown = () => [[], stale.has("descent") ? [] : descent.drawn(plane), []];

/** What each panel asks for, and what it does with the answer. */
const QUESTIONS = {
  learners: async (question) => [await ask("fits", question)],
  validation: (question) => Promise.all([ask("fits", question), ask("study", question)]),
  descent: async () => [],
};
const ANSWERED = {
  learners([found], why) { fits = found; compare.set(found, why); },
  validation([found, answer], why) { fits = found; study.set(answer, found, why); },
  descent() { descent.set(scene.hasBothClasses); },
};

/** Ask about the panel that is open, unless its answers are about this scene. */
async function askPanel(number = asked) {
  const { name } = tabs;
  if (!(name in QUESTIONS) || !stale.has(name) || !scene.hasBothClasses) return;
  document.documentElement.dataset.state = "asking";
  panels += 1;
  let found = [null, null], why = "";
  try {
    found = await QUESTIONS[name](scene.asJson());
  } catch (error) {
    why = error.message;
  }
  panels -= 1;
  later();
  if (number !== asked) return;
  stale.delete(name);
  ANSWERED[name](found, why);
}

/** Ask the server about the scene; of answers that overtake each other the last question counts. */
async function refresh() {
  const number = ++asked;
  waiting = null;
  if (!scene.hasBothClasses) {
    learner.clear();
    proofs.set(null, "There must be points of both classes.");
    for (const empty of Object.values(ANSWERED)) empty([null, null], "There must be points of both classes.");
    answered = number;
    later();
    return;
  }
  const question = scene.asJson();
  const wanted = (act) => (found) => {
    if (number === asked) act(found);
    return number === asked;
  };
  const proving = ask("proof", question).then(wanted((proof) => {
    proofs.set(proof);
    sayColumns(proof.columns);
  }));
  try {
    await Promise.all([stream(question, wanted((start) => learner.begin(start)), wanted((part) => learner.more(part))), proving, askPanel(number)]);
  } catch (error) {
    if (number !== asked) return;
    learner.clear();
    proofs.set(null, error.message);
  }
  if (number === asked) answered = number;
  later();
  clearTimeout(addressed);
  addressed = setTimeout(() => { if (altered && number === asked) history.replaceState(null, "", fragmentOf(scene)); }, 400);
}

function changed({ detail }) {
  if (learner === undefined) return;
  altered = begun;
  say(""); // a message is about the scene before
  asked += 1;
  stale = new Set(Object.keys(QUESTIONS)); // what was answered is no longer about this scene
  document.documentElement.dataset.state = "asking";
  if (waiting !== null) cancelAnimationFrame(waiting);
  clearTimeout(timer);
  if (isQuick(scene)) {
    waiting = requestAnimationFrame(refresh); // answered before anything is drawn
    return;
  }
  proofs.set(null, "Deciding…");
  learner.clear();
  later();
  timer = setTimeout(refresh, detail === "move" ? 60 : 0);
}

/** Show points under their names, with room around them; choices as given, or as they are. */
function show({ points, axes = ["x", "y"], about = "" }, given = scene.asJson(), room = 1) {
  scene.axes = axes;
  byId("about").textContent = about;
  plane.selected = -1;
  Object.assign(learner, { look: 0, wanted: null, run: null });
  scene.restore(given);
  scene.replace(structuredClone(points));
  plane.fit(room);
  later();
}

const sceneNamed = (wanted) => first.scenes.find(({ name }) => name === wanted);

function beginLesson({ preset, points, panel, choices, learners, room, atEnd, hand: line }, seed) {
  byId("preset").value = preset ?? "";
  const given = points === undefined ? sceneNamed(preset) : { points: points(seed), about: "points of this lesson" };
  plane.handles.hold(null);
  show(given, { choices, ...(learners && { learners }) }, room);
  if (line !== undefined) plane.handles.hold(line);
  if (atEnd) learner.wanted = Infinity;
  tabs.show(panel);
}

const seenByLessons = () => ({ scene, hand, be, squeeze, proof: proofs.proof, learner, fits: stale.has("learners") ? null : compare.fits, study: stale.has("validation") ? null : study.answer, rates: study.rates });

async function begin() {
  try {
    first = await offered();
  } catch (error) {
    say(`The scenes of the lab cannot be read: ${error.message}`);
    return;
  }
  const { scenes, table } = first;
  featureForm(scene);
  learner = new Learner(scene);
  be = new BeThePerceptron(scene, learner, plane, later);
  compare = new Compare(scene, first.learners);
  lessons = new LessonPanel(beginLesson, seenByLessons);
  const tableForm = new TableForm(table, show);
  byId("preset").append(...scenes.map(({ name, title }) => new Option(title, name)));
  byId("preset").addEventListener("change", (event) => show(sceneNamed(event.target.value)));
  learner.addEventListener("look", later);
  compare.addEventListener("shade", later);
  study.addEventListener("threshold", later);
  tabs.addEventListener("show", () => {
    hand.hold(tabs.name === "hand");
    askPanel();
    later();
  });
  for (const part of document.querySelectorAll(".python")) part.hidden = isServed();
  document.addEventListener("keydown", (event) => {
    if (!(event.ctrlKey || event.metaKey) || event.key.toLowerCase() !== "z" || event.target.matches("input:not([type=radio], [type=checkbox], [type=range])")) return;
    event.preventDefault();
    if (event.shiftKey) scene.redo(); else scene.undo();
  });
  scene.addEventListener("change", changed);
  const on = (id, act) => byId(id).addEventListener("click", act);
  on("flip", () => plane.flip());
  on("delete", () => plane.removeSelected());
  on("undo", () => scene.undo());
  on("redo", () => scene.redo());
  on("clear", () => scene.replace([]));
  on("fit", () => { plane.fit(); draw(); });
  const open = ({ points, ...given }, about) => show({ points, about }, given);
  shareForm(scene, { say, open });
  let given = null, problem = "";
  try {
    given = sharedScene();
  } catch {
    problem = "The link does not hold a scene.";
  }
  if (given === null) show(scenes[0]);
  else open(given, "from a link");
  if (given === null) tableForm.fill(scenes[0].axes);
  hand.hold(true);
  const lesson = /[#&]lesson=(\d+)/.exec(location.hash);
  if (lesson !== null) lessons.open(Number(lesson[1]));
  say(problem);
  if (/[#&]embed=yes/.test(location.hash)) document.documentElement.dataset.embed = "yes";
  begun = true;
}

await begin();
performance.mark("interactive");
document.documentElement.dataset.ready = "yes";
