/* <separatrix-plane>: points of two classes that a reader moves, and what is true of them, in any page.
 *
 *   <separatrix-plane points="-1 2 -, 1 0 +, 1 1 +" line="1 1 0" show="verdict margin scores"></separatrix-plane>
 *
 * points  x y and the class of each, separated by commas; line  w1 w2 b of a line to drag; bias="off"  lines through the origin;
 * view  left bottom width of the window; fixed  points stay; recipe  of the perceptron;
 * show  any of line, scores, distances, verdict, margin, hulls, fewest, perceptron, bound, lda, logistic, squares, widest,
 *       neighbours (the side of the nearest points, one or as many as the attribute of this name says), probability (of logistic),
 *       pull (of each row on w in logistic regression);
 * bare  the picture alone: a page gives it a scene with begin(), and draws on `plane`. */

import { fitsOf, proofOf, runOf } from "./answers.js";
import { boundary, regions, score, shading } from "./boundary.js";
import { sigmoid } from "./fits.js";
import { Plane } from "./plane.js";
import { RECIPES } from "./perceptron.js";
import { factsOf, points as named, verdictOf, withCheck, withChecker } from "./sentences.js";
import { element, shape, shown } from "./shapes.js";
import { Scene } from "./state.js";

const LABEL = "The plane. Arrow keys move the cursor, p adds a plus point, n a minus point. Tab goes to the points; there arrow keys move a point, f flips its class, Delete removes it.";
const LINES = { lda: "lda", logistic: "logistic", squares: "least-squares", widest: "max-margin" };
const NAMES = { lda: "LDA", logistic: "logistic", squares: "least squares", widest: "maximum margin" };
let number = 0;

/** Points from an attribute: "x y +, x y -". */
function readPoints(text) {
  return text.split(",").map((part) => part.trim().split(/\s+/)).filter((part) => part.length === 3)
    .map(([x, y, label]) => ({ x: Number(x), y: Number(y), label: label === "+" ? 1 : -1 }));
}

export class SeparatrixPlane extends HTMLElement {
  #frame = null;
  #look = 0;
  #answers = null;

  connectedCallback() {
    if (this.svg !== undefined) return;
    number += 1;
    addStyle();
    this.svg = shape("svg", { viewBox: "0 0 600 600", role: "application", tabindex: "0", "aria-label": LABEL, id: this.getAttribute("picture") ?? `plane-${number}` }, "plane");
    this.append(this.svg);
    if (!this.hasAttribute("bare")) this.#alone();
  }

  /** Take a scene, and show its points. */
  begin(scene, newLabel, say) {
    this.scene = scene;
    this.plane = new Plane(this.svg, scene, newLabel, say);
    return this.plane;
  }

  /** A plane with tools and sentences of its own. */
  #alone() {
    const scene = new Scene();
    scene.points = readPoints(this.getAttribute("points") ?? "");
    scene.fixed = this.hasAttribute("fixed");
    const recipe = this.getAttribute("recipe") ?? "default";
    scene.choices = { ...scene.choices, ...RECIPES[recipe], ...(this.getAttribute("bias") === "off" && { fit_intercept: false }) };
    this.show = new Set((this.getAttribute("show") ?? "verdict").split(/\s+/).filter(Boolean));
    this.first = { points: structuredClone(scene.points), line: this.getAttribute("line") };
    this.said = element("p", { class: "said", role: "status", "aria-live": "polite" });
    this.facts = element("ul", { class: "facts" });
    this.append(this.#tools(scene), this.said, this.facts);
    this.begin(scene, () => Number(this.querySelector("input[type=radio]:checked")?.value ?? 1), (text) => { this.said.textContent = text; });
    this.#view();
    this.#hold();
    this.plane.onLine = () => this.#later();
    scene.addEventListener("change", () => { this.#answers = null; this.#later(); });
    this.addEventListener("keydown", (event) => {
      if (!(event.ctrlKey || event.metaKey) || event.key.toLowerCase() !== "z") return;
      event.preventDefault();
      if (event.shiftKey) scene.redo(); else scene.undo();
    });
    withChecker().then(() => { this.checker = true; this.#answers = null; this.#later(); });
    this.#draw();
  }

  #view() {
    const [x, y, wide] = (this.getAttribute("view") ?? "").split(/\s+/).map(Number);
    if (wide > 0) Object.assign(this.plane.window, { x, y, wide, high: wide });
    else if (this.first.line !== null) this.plane.fit(1.5);
    this.plane.drawAxes();
  }

  #hold() {
    if (this.first.line === null) return;
    const [w1, w2, b] = this.first.line.trim().split(/\s+/).map(Number);
    this.plane.handles.hold({ w: [w1, w2], b }, this.scene.choices.fit_intercept);
  }

  #tools(scene) {
    const bar = element("div", { class: "plane-tools", role: "toolbar", "aria-label": "Points and steps" });
    const button = (text, act) => {
      const made = element("button", { type: "button" }, text);
      made.addEventListener("click", act);
      bar.append(made);
    };
    if (!scene.fixed) {
      for (const [value, text] of [[1, "● plus"], [-1, "■ minus"]]) {
        const input = element("input", { type: "radio", name: `label-${number}`, value, ...(value === 1 && { checked: "" }) });
        bar.append(element("label", { class: value > 0 ? "plus" : "minus" }, input, ` ${text}`));
      }
      button("Flip", () => this.plane.flip());
      button("Delete", () => this.plane.removeSelected());
      button("Undo", () => scene.undo());
    }
    if (this.show.has("perceptron")) {
      button("Next update", () => this.#step((run, k) => run.mistake.findIndex((wrong, i) => wrong && i >= k) + 1 || run.row.length));
      button("End", () => this.#step((run) => run.row.length));
      button("Start", () => this.#step(() => 0));
    }
    button("Reset", () => { this.#look = 0; scene.replace(structuredClone(this.first.points)); this.#view(); this.#hold(); });
    return bar;
  }

  #step(to) {
    const { run } = this.#ask();
    if (run !== undefined) this.#look = to(run, this.#look);
    this.#later();
  }

  #later() {
    this.#frame ??= requestAnimationFrame(() => { this.#frame = null; this.#draw(); });
  }

  /** What is asked of these points, once. */
  #ask() {
    if (this.#answers !== null) return this.#answers;
    const { scene, show } = this, answers = {};
    if (scene.hasBothClasses) {
      if (["verdict", "margin", "hulls", "fewest", "bound"].some((name) => show.has(name)) && this.checker) answers.proof = withCheck(proofOf(scene));
      if (show.has("perceptron") || show.has("bound")) answers.run = runOf(scene);
      const learners = Object.keys(LINES).filter((name) => show.has(name));
      scene.learners = learners.map((name) => LINES[name]);
      answers.fits = fitsOf(scene).fits.map((fit, k) => ({ ...fit, is: learners[k] }));
    }
    this.#look = Math.min(this.#look, answers.run?.row.length ?? 0);
    this.#answers = answers;
    return answers;
  }

  #draw() {
    const { plane, scene, show } = this, { proof, run, fits = [] } = this.#ask();
    const behind = [], lines = [], marks = [], said = [], facts = [];
    const held = plane.handles.held, bias = scene.choices.fit_intercept;
    if (plane.drag === null) plane.drawPoints(); else plane.drawPoint(plane.drag.index);
    if (!scene.hasBothClasses) said.push("There must be points of both classes.");
    if (show.has("neighbours") && scene.hasBothClasses) behind.push(...regions(plane, (x, y) => this.#vote(x, y)));
    if (held !== null) {
      behind.push(...plane.halfspaces(held));
      lines.push(boundary(plane, held, null, "boundary"));
      this.#byHand(held, { behind, lines, marks, said });
    }
    if (proof !== undefined) {
      const { kind, mark, text } = verdictOf(proof, bias);
      if (show.has("verdict")) said.push(`${mark} ${text}`);
      this.said.className = `said ${kind}`;
      this.#proof(proof, { behind, marks, facts, bias });
    }
    fits.forEach((fit, k) => {
      if (fit.problem !== null) facts.push(`${NAMES[fit.is]}: ${fit.problem}`);
      else lines.push(boundary(plane, fit, null, `boundary line-${k + 1}`, { name: NAMES[fit.is], along: 0.06 + 0.2 * k }));
      if (fit.is === "logistic" && fit.problem === null && show.has("probability")) behind.push(...shading(plane, fit, null, true));
    });
    if (run !== undefined && show.has("perceptron")) this.#run(run, { lines, marks, said });
    plane.draw(behind, lines, marks);
    this.said.textContent = said.join(" ");
    this.facts.replaceChildren(...facts.map((text) => element("li", {}, text)));
    this.dispatchEvent(new CustomEvent("drawn"));
  }

  /** The sum of the labels of the k nearest points: their vote. */
  #vote(x, y) {
    const near = [...this.scene.points].sort((p, q) => Math.hypot(p.x - x, p.y - y) - Math.hypot(q.x - x, q.y - y));
    return near.slice(0, Number(this.getAttribute("neighbours") ?? 1)).reduce((sum, { label }) => sum + label, 0);
  }

  #byHand(held, { lines, marks, said }) {
    const { plane, scene, show } = this, norm = Math.hypot(...held.w);
    const scores = scene.points.map(({ x, y }) => score(held, null, x, y));
    const wrong = scores.map((s, k) => (s >= 0 === scene.points[k].label > 0 ? -1 : k)).filter((k) => k >= 0);
    said.push(`w = (${held.w.map((v) => shown(v, 3)).join(", ")}), b = ${shown(Math.abs(held.b) < 1e-12 ? 0 : held.b, 3)}: ${wrong.length} of ${scores.length} misclassified${wrong.length ? ` (${named(wrong)})` : ""}.`);
    marks.push(...wrong.map((k) => plane.ring(k, "wrong", 15)));
    if (show.has("scores")) marks.push(...scores.map((s, k) => plane.note(k, shown(s, 3))));
    if (show.has("distances")) {
      scores.forEach((s, k) => {
        const { x, y } = scene.points[k], [u, v] = plane.toPicture(x, y);
        const [x2, y2] = plane.toPicture(x - (s * held.w[0]) / norm ** 2, y - (s * held.w[1]) / norm ** 2);
        lines.push(shape("line", { x1: u, y1: v, x2, y2 }, "foot"));
        marks.push(plane.note(k, shown(s / norm, 3)));
      });
    }
    if (show.has("pull")) {
      scene.points.forEach(({ x, y, label }, k) => {
        const share = sigmoid(-label * scores[k]) * label;
        lines.push(plane.arrow([x, y], [x + share * x, y + share * y], "added"));
        marks.push(plane.note(k, shown(Math.abs(share), 2)));
      });
    }
  }

  #proof(proof, { behind, marks, facts, bias }) {
    const { plane, scene, show } = this;
    const every = factsOf(proof, bias);
    if (proof.gap !== null && show.has("margin")) {
      const { line, lower, edges } = proof.gap;
      behind.push(plane.band(line, lower * Math.hypot(...line.w)), boundary(plane, line, null, "boundary widest"));
      marks.push(...edges.map((k) => plane.ring(k, "support")));
      facts.push(...every.filter((text) => text.startsWith("The largest margin")));
    }
    if (proof.witness.length > 0 && (show.has("hulls") || show.has("verdict"))) {
      const own = (label) => proof.witness.filter((k) => scene.points[k].label === label);
      behind.push(plane.hull(own(1), "plus-mark", !bias), plane.hull(own(-1), "minus-mark", !bias));
      marks.push(...proof.witness.map((k) => plane.ring(k, "witness")));
      facts.push(every[0]);
    }
    if (show.has("fewest") && proof.mistakes !== null) facts.push(...every.filter((text) => text.startsWith("The minimum")));
    if (show.has("bound") && proof.bound !== null) {
      const { most, radius, margin } = proof.bound, { mistake } = this.#ask().run;
      facts.push(`Novikoff’s bound: at most (R/γ)² = (${shown(radius)}/${shown(margin)})², so ${shown(most, 15)} mistakes${proof.check.proved ? " (proved)" : ""}; this run makes ${mistake.filter(Boolean).length}.`);
    }
  }

  #run(run, { lines, marks, said }) {
    const { plane } = this, k = this.#look, at = (i) => ({ w: run.w[i], b: run.b[i] });
    const vector = ({ w, b }) => `(${w.map((v) => shown(v)).join(", ")}${this.scene.choices.fit_intercept ? `; ${shown(b)}` : ""})`;
    if (k === 0) said.push(`Before the first row: ŵ = ${vector(at(0))}.`);
    else {
      const row = run.row[k - 1], { label } = this.scene.points[row], wrong = run.mistake[k - 1];
      if (wrong) lines.push(boundary(plane, at(k - 1), null, "boundary old"));
      marks.push(plane.ring(row, "current", 13));
      const count = run.mistake.slice(0, k).filter(Boolean).length;
      said.push(wrong ? `Row ${row} (${label > 0 ? "plus" : "minus"}), score ${shown(run.score[k - 1])}: mistake ${count}. ŵ ${vector(at(k - 1))} → ${vector(at(k))}.` : `Row ${row}: correct. ŵ = ${vector(at(k))}.`);
      if (k === run.row.length) said.push(`${run.ended}.`);
    }
    lines.push(boundary(plane, at(k), null, "boundary"));
  }
}

/** The style sheet beside this module, once in a page. */
function addStyle() {
  const href = new URL("plane.css", import.meta.url).href;
  if (![...document.styleSheets].some((sheet) => sheet.href === href) && document.querySelector(`link[href="${href}"]`) === null) document.head.append(element("link", { rel: "stylesheet", href }));
}

customElements.define("separatrix-plane", SeparatrixPlane);
