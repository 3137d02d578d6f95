/* You are the perceptron: say which row is the next mistake, and what w becomes. A wrong choice is proved wrong. */

import { byId, shown } from "./shapes.js";

const vector = ({ w, b }, bias) => `(${w.map((v) => shown(v)).join(", ")}${bias ? `; ${shown(b)}` : ""})`;

export class BeThePerceptron {
  on = false;
  chosen = null; // the row that was rightly named, until its update is made
  done = 0; // updates that the reader made

  constructor(scene, learner, plane, redraw) {
    Object.assign(this, { scene, learner, plane, redraw });
    plane.onPoint = (index) => this.name(index);
    byId("be").addEventListener("change", (event) => this.begin(event.target.checked));
    byId("be-form").addEventListener("submit", (event) => { event.preventDefault(); this.answer(); });
    byId("be-clean").addEventListener("click", () => this.nothing());
    scene.addEventListener("change", () => { if (this.on) this.begin(true); });
  }

  begin(on) {
    this.on = on;
    this.scene.fixed = on; // clicks name rows, and change none
    byId("be").checked = on;
    byId("be-part").hidden = !on;
    for (const part of document.querySelectorAll(".run-part")) part.hidden = on;
    this.chosen = null;
    this.done = 0;
    if (on) this.learner.go(0);
    this.say(on ? "Which row is the perceptron’s first mistake? Click it in the plane (or Tab to it and press Enter)." : "");
  }

  say(text) {
    byId("be-said").textContent = text;
    byId("be-form").hidden = this.chosen === null;
    byId("be-b").parentElement.hidden = !this.scene.choices.fit_intercept;
    this.redraw();
  }

  /** The next look that is a mistake; null where none is left. */
  get next() {
    const { run, look } = this.learner;
    const at = run.mistake.findIndex((wrong, k) => wrong && k >= look);
    return at < 0 ? null : { at, row: run.row[at], score: run.score[at] };
  }

  name(index) {
    if (!this.on || this.learner.run === null || this.chosen !== null) return;
    const { next, learner, scene } = this, bias = scene.choices.fit_intercept, now = learner.weights;
    const { x, y, label } = scene.points[index], s = now.w[0] * x + now.w[1] * y + now.b;
    const claim = `y·s(x) = ${label > 0 ? "+1" : "−1"} · (${shown(now.w[0])}·${shown(x)} + ${shown(now.w[1])}·${shown(y)}${bias ? ` + ${shown(now.b)}` : ""}) = ${shown(label * s)}`;
    if (next !== null && next.row === index) {
      this.chosen = index;
      this.say(`Yes, row ${index} is a mistake: ${claim}${s === 0 ? (label < 0 || scene.choices.tie === "mistake" ? ": a score of 0 is not right here" : "") : " < 0"}. The perceptron adds y·x̂ to ŵ = ${vector(now, bias)}. What is the new ŵ?`);
      byId("be-w1").focus({ preventScroll: true });
      return;
    }
    const order = learner.run.row.slice(learner.look, next === null ? undefined : next.at + 1);
    const wrong = label * s < 0 || (s === 0 && (scene.choices.tie === "mistake" || label < 0));
    this.say(!wrong ? `No: row ${index} is on its correct side, which proves that it is no mistake: ${claim} ${s === 0 ? "and 0 predicts plus" : "> 0"}.`
      : `Row ${index} would be a mistake (${claim}), but the perceptron looks at the rows in order: first at ${order.slice(0, 3).join(", ")}${order.length > 3 ? ", …" : ""}, and one of them is wrong too.`);
  }

  answer() {
    const { next, scene, learner } = this, bias = scene.choices.fit_intercept;
    const typed = ["be-w1", "be-w2", ...(bias ? ["be-b"] : [])].map((id) => Number(byId(id).value.replace("−", "-").replace(",", ".")));
    const after = { w: learner.run.w[next.at + 1], b: learner.run.b[next.at + 1] }, right = [...after.w, ...(bias ? [after.b] : [])];
    if (!typed.every((v, j) => Math.abs(v - right[j]) <= 5e-4 * (1 + Math.abs(right[j])))) {
      const { x, y, label } = scene.points[next.row], now = learner.weights;
      this.say(`No: ŵ + y·x̂ = ${vector(now, bias)} ${label > 0 ? "+" : "−"} ${vector({ w: [x, y], b: 1 }, bias)}. Try again.`);
      return;
    }
    this.chosen = null;
    this.done += 1;
    for (const id of ["be-w1", "be-w2", "be-b"]) byId(id).value = "";
    learner.go(next.at + 1);
    this.say(`Right: ŵ = ${vector(after, bias)}. Which row is the next mistake? Or is none left?`);
    this.plane.svg.focus({ preventScroll: true });
  }

  /** The reader says that no row is wrong. */
  nothing() {
    if (this.chosen !== null || this.learner.run === null) return;
    const { next } = this;
    if (next !== null) {
      this.say("There is one more mistake before the run ends: look for a point on the wrong side of the line.");
      return;
    }
    this.learner.go(Infinity);
    const count = this.learner.mistakes;
    this.say(`Right: no row is a mistake any more. You made the ${count} update${count === 1 ? "" : "s"} of the perceptron.`);
  }
}
