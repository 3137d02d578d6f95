/* By hand: the reader's line against the perceptron and the proved minimum. */

import { score } from "./boundary.js";
import { points } from "./sentences.js";
import { byId, element, shown } from "./shapes.js";

export class Hand {
  best = null; // fewest mistakes of the line in the hand, on these points

  constructor(plane, scene, redraw) {
    Object.assign(this, { plane, scene });
    plane.onLine = () => { this.look(); redraw(); };
    for (const id of ["hand-scores", "hand-distances"]) byId(id).addEventListener("change", redraw);
    scene.addEventListener("change", () => { this.best = null; });
  }

  /** Take the line in the hand, or put it away. */
  hold(on) {
    if (!on) this.plane.handles.hold(null);
    else if (this.plane.handles.line === null) {
      const { y, high } = this.plane.window;
      this.plane.handles.hold({ w: [0, high / 5], b: (-high / 5) * (y + high / 2) }, this.scene.choices.fit_intercept);
    }
  }

  /** Scores, and the points on the wrong side; a score of 0 predicts plus. */
  get wrong() {
    const { held } = this.plane.handles;
    if (held === null) return null;
    return this.scene.points.map(({ x, y, label }, k) => (score(held, null, x, y) >= 0 === label > 0 ? -1 : k)).filter((k) => k >= 0);
  }

  look() {
    const { wrong } = this;
    if (wrong !== null && this.scene.hasBothClasses) this.best = Math.min(this.best ?? Infinity, wrong.length);
  }

  say(proof, learner) {
    const { held } = this.plane.handles, { wrong } = this;
    if (held === null) return;
    this.look();
    const norm = Math.hypot(...held.w);
    byId("hand-said").textContent = `w = (${held.w.map((v) => shown(v, 3)).join(", ")}), b = ${shown(Math.abs(held.b) < 1e-12 ? 0 : held.b, 3)}, ‖w‖ = ${shown(norm, 3)}. ${wrong.length === 0 ? "No point is misclassified." : `Misclassified: ${points(wrong)}.`}`;
    const run = learner.run, last = run === null ? null : { w: run.w.at(-1), b: run.b.at(-1) };
    const perceptron = last === null ? null : this.scene.points.filter(({ x, y, label }) => score(last, run.columns, x, y) >= 0 !== label > 0).length;
    const minimum = proof === null ? "…" : proof.verdict === "complete" ? "0 (proved)" : proof.mistakes === null ? "not counted" : `${proof.mistakes.lower}${proof.mistakes.counted ? " (all divisions counted)" : " (proved)"}`;
    const rows = [["your line now", wrong.length], ["your best so far", this.best ?? "–"], ["the perceptron at the end of its run", perceptron ?? "…"], ["the minimum of all lines", minimum]];
    byId("hand-card").replaceChildren(...rows.map(([name, value]) => element("tr", {}, element("th", { scope: "row" }, name), element("td", {}, String(value)))));
  }

  drawn() {
    const { plane, scene } = this, { held } = plane.handles;
    if (held === null) return { behind: [], marks: [] };
    const norm = Math.hypot(...held.w), marks = this.wrong.map((k) => plane.ring(k, "wrong", 16));
    const notes = byId("hand-distances").checked ? norm : byId("hand-scores").checked ? 1 : null;
    if (notes !== null) marks.push(...scene.points.map(({ x, y }, k) => plane.note(k, shown(score(held, null, x, y) / notes, 3))));
    return { behind: plane.halfspaces(held), marks };
  }
}
