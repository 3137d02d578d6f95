/* Novikoff's proof as it happens: |w| between k·γ and √k·R at every update; switches take an assumption away. */

import { byId, shape, shown, words } from "./shapes.js";

const SHOWN = (v) => shown(v, 6);

export class Squeeze {
  broken = false; // whether an inequality fails, or there is no γ > 0

  constructor(scene, redraw) {
    this.scene = scene;
    byId("break-start").addEventListener("change", (event) => scene.choose("choices", "start", event.target.checked ? "ones" : "zeros"));
    byId("break-radius").addEventListener("change", redraw);
    byId("break-margin").addEventListener("change", (event) => (event.target.checked ? this.#copy() : scene.undo()));
    scene.addEventListener("change", () => { byId("break-start").checked = scene.choices.start !== "zeros"; });
  }

  /** A copy of the first point with the other label: no line has both right. */
  #copy() {
    const { x, y, label } = this.scene.points[0];
    this.scene.add(x, y, -label);
  }

  /** The bound as a bar that fills, and the curves; `proof` may be null while it is decided. */
  show(proof, learner) {
    const part = byId("bound-part"), { start, normalize_rows: scaled } = this.scene.choices;
    part.hidden = proof === null || scaled || learner.run === null || proof.columns.length > 2;
    byId("bound-scaled").hidden = !scaled;
    byId("breaks").hidden = part.hidden;
    if (part.hidden) return;
    byId("break-margin").checked = proof.bound === null;
    byId("break-margin").disabled = proof.bound === null && !this.scene.canUndo;
    const bias = this.scene.choices.fit_intercept, k = learner.mistakes;
    const lengths = this.scene.points.map(({ x, y }) => Math.hypot(x, y, bias ? 1 : 0));
    const shortest = byId("break-radius").checked;
    const radius = shortest ? Math.min(...lengths) : Math.max(...lengths), margin = proof.bound?.margin ?? 0;
    const norms = [Math.hypot(...learner.run.w[0], bias ? learner.run.b[0] : 0)];
    learner.run.mistake.slice(0, learner.look).forEach((wrong, i) => {
      if (wrong) norms.push(Math.hypot(...learner.run.w[i + 1], bias ? learner.run.b[i + 1] : 0));
    });
    const most = margin > 0 ? Math.floor((radius / margin) ** 2 + 1e-9) : null;
    const known = proof.check.proved && start === "zeros" && !shortest;
    byId("bound-text").textContent = most === null ? `${k} mistakes so far, and no bound` : `${k} mistakes so far, ${known ? `of at most ${shown(proof.bound.most, 15)} (proved)` : `and (R/γ)² = ${shown(most, 15)}, but no bound holds here`}`;
    byId("bound-why").textContent = most === null
      ? "No line has all points right, so that there is no γ > 0: k·γ never rises, and nothing ends the run."
      : `R = ${SHOWN(radius)}${shortest ? ", the length of the shortest lifted row" : ""}, lifted margin γ = ${SHOWN(margin)}.`;
    const end = Math.max(most ?? 0, known ? 1 : k, 1);
    Object.assign(byId("bound-bar"), { max: end, value: k });
    this.#curves({ margin, radius, norms, end, k });
    byId("squeeze-text").textContent = this.#sentence({ margin, radius, norms, start });
  }

  /** Which inequality fails, and where, or that both hold. */
  #sentence({ margin, radius, norms, start }) {
    this.broken = true;
    const over = norms.findIndex((v, k) => v > radius * Math.sqrt(k) * (1 + 1e-12));
    const under = norms.findIndex((v, k) => v < margin * k * (1 - 1e-12));
    const now = `|ŵ| (thick) after ${norms.length - 1} mistakes is ${SHOWN(norms.at(-1))}`;
    if (over >= 0) return `Broken: after ${over} mistakes |ŵ| = ${SHOWN(norms[over])} is more than √k·R = ${SHOWN(radius * Math.sqrt(over))}${start === "zeros" ? "" : ", because the run did not start at zero"}. ${now}.`;
    if (under >= 0) return `Broken: after ${under} mistakes |ŵ| = ${SHOWN(norms[under])} is less than k·γ = ${SHOWN(margin * under)}. ${now}.`;
    this.broken = !(margin > 0);
    return `k·γ ≤ |ŵ| ≤ √k·R: dashed and thin line, drawn over √k${margin > 0 ? "; they meet at k = (R/γ)²" : ""}. ${now}.`;
  }

  /** Both sides over the root of k, so that few mistakes are seen under a large bound. */
  #curves({ margin, radius, norms, end, k }) {
    const top = Math.max(margin * end, radius * Math.sqrt(end), ...norms);
    const place = (n, value) => [30 + Math.sqrt(n / end) * 320, 180 - (value / top) * 165];
    const curve = (values) => values.map(([n, v], i) => `${i ? "L" : "M"}${place(n, v).map((t) => t.toFixed(1)).join(" ")}`).join("");
    const steps = Array.from({ length: 61 }, (_, i) => (i / 60) ** 2 * end);
    const [u, v] = place(k, norms.at(-1));
    byId("squeeze").replaceChildren(
      shape("path", { d: "M30 10V180H352" }, "curve axis"),
      shape("path", { d: curve(steps.map((n) => [n, margin * n])) }, "curve low"),
      shape("path", { d: curve(steps.map((n) => [n, radius * Math.sqrt(n)])) }, "curve high"),
      shape("path", { d: curve(norms.map((value, n) => [n, value])) }, "curve norm"),
      shape("circle", { cx: u, cy: v, r: 4 }, "dot"),
      words(`k = ${shown(end, 15)}`, 352, 196, "tick", { "text-anchor": "end" }), words("0 mistakes", 30, 196),
      words("√k·R", ...place(end * 0.2, radius * Math.sqrt(end * 0.2) * 1.2), "tick dark"), words("k·γ", ...place(end * 0.55, margin * end * 0.42), "tick dark"),
    );
  }
}
