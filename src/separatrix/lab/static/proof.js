/* What is proved of the points: the verdict in words, the bound and its two inequalities, and the check of the
 * certificates in this page by checker.js (whose functions are global). */

import { shape } from "./plane.js";

const SHOWN = (v) => String(Number(v.toPrecision(6)));
const VERDICTS = {
  complete: ["holds", "A line separates the classes (proved)."],
  quasi: ["fails", "No line has all points strictly on their correct sides, but one has none on its wrong side (proved)."],
  overlap: ["fails", "No line separates the classes (proved)."],
  undecided: ["fails", "Not decided."],
};

export class ProofPanel {
  proof = null;

  constructor(scene) {
    this.scene = scene;
    const on = (id, act) => document.getElementById(id).addEventListener("click", act);
    on("check", () => this.check());
    on("download", () => this.download());
  }

  set(proof, why = "") {
    this.proof = proof;
    const verdict = document.getElementById("verdict");
    const [kind, words] = proof === null ? ["", why] : VERDICTS[proof.verdict];
    verdict.className = `verdict ${kind}`;
    verdict.textContent = words;
    document.getElementById("facts").replaceChildren(...this.facts().map((text) => {
      const item = document.createElement("li");
      item.textContent = text;
      return item;
    }));
    document.getElementById("checked").replaceChildren();
    document.getElementById("check").disabled = proof === null;
    document.getElementById("download").disabled = proof === null;
  }

  facts() {
    const { proof } = this;
    if (proof === null) return [];
    const made = [];
    if (proof.witness.length > 0) {
      made.push(`${proof.witness.length === 1 ? "Point" : "Points"} ${proof.witness.join(", ")} alone rule it out: the hulls of their classes meet.`);
    }
    if (proof.gap !== null) {
      const { lower, upper, support } = proof.gap;
      const width = upper - lower <= 1e-9 * upper ? SHOWN(lower) : `between ${SHOWN(lower)} and ${SHOWN(upper)}`;
      made.push(`The largest margin is ${width} on each side (proved); points ${support.join(", ")} lie on its edges.`);
    }
    if (proof.mistakes !== null) {
      const { lower, upper, rows } = proof.mistakes;
      const count = lower === upper ? `${lower} (proved)` : `between ${lower} and ${upper} (proved)`;
      made.push(`The minimum number of mistakes is ${count}; without ${rows.length === 1 ? "point" : "points"} ${rows.join(", ")} a line separates the others.`);
    }
    const named = { x: this.scene.axes[0], y: this.scene.axes[1], intercept: "the intercept" };
    const infinite = Object.entries(proof.coefficients).filter(([, fate]) => fate.endsWith("inf"));
    for (const [name, fate] of infinite) {
      made.push(`Logistic regression: the coefficient of ${named[name]} tends to ${fate.startsWith("+") ? "+∞" : "−∞"} (proved).`);
    }
    if (proof.verdict === "overlap") made.push("Logistic regression has a finite maximum-likelihood estimate (proved).");
    return made;
  }

  /** The bound as a bar that fills, and |w| between k·γ and √k·R. Holds for a start at zero and rows as they are. */
  showBound(learner) {
    const part = document.getElementById("bound-part");
    const bound = this.proof?.bound ?? null;
    const { start, normalize_rows: scaled } = this.scene.choices;
    part.hidden = bound === null || start !== "zeros" || scaled || learner.run === null;
    if (part.hidden) return;
    const k = learner.mistakes;
    document.getElementById("bound-text").textContent =
      `${k} mistakes so far, of at most ${bound.most} (R = ${SHOWN(bound.radius)}, γ = ${SHOWN(bound.margin)}, (R/γ)² bounds them; proved)`;
    Object.assign(document.getElementById("bound-bar"), { max: Math.max(bound.most, 1), value: k });
    this.squeeze(bound, learner, k);
  }

  squeeze(bound, learner, k) {
    const most = Math.max(bound.most, 1);
    const top = Math.max(bound.margin * most, bound.radius * Math.sqrt(most));
    const place = (n, value) => [30 + (n / most) * 320, 180 - (value / top) * 165];
    const curve = (values) => values.map(([n, v], i) => `${i ? "L" : "M"}${place(n, v).map((t) => t.toFixed(1)).join(" ")}`).join("");
    const steps = Array.from({ length: 61 }, (_, i) => (i / 60) * most);
    const norms = [[0, 0]];
    learner.run.mistake.slice(0, learner.look).forEach((wrong, i) => {
      if (wrong) norms.push([norms.length, Math.hypot(...learner.run.w[i + 1], this.scene.choices.fit_intercept ? learner.run.b[i + 1] : 0)]);
    });
    document.getElementById("squeeze").replaceChildren(
      shape("path", { d: "M30 10V180H352" }, "curve axis"),
      shape("path", { d: curve(steps.map((n) => [n, bound.margin * n])) }, "curve low"),
      shape("path", { d: curve(steps.map((n) => [n, bound.radius * Math.sqrt(n)])) }, "curve high"),
      shape("path", { d: curve(norms) }, "curve norm"),
      named("mistakes k", 282, 196), named("√k·R", ...place(most * 0.42, bound.radius * Math.sqrt(most * 0.42) * 1.08)),
      named("k·γ", ...place(most * 0.7, bound.margin * most * 0.58)),
    );
    document.getElementById("squeeze-text").textContent =
      `After k mistakes k·γ ≤ |ŵ| ≤ √k·R: the straight line and the curve meet at (R/γ)². |ŵ| after ${k} mistakes is ${SHOWN(norms.at(-1)[1])}.`;
  }

  /** Each certificate against the points, by the checker in this page. */
  check() {
    const place = document.getElementById("checked");
    const results = this.proof.certificates.map((certificate) => verify(certificate, this.proof.table, "points.csv", "label"));
    const proved = results.every(({ code }) => code === 0);
    const heading = document.createElement("p");
    heading.className = `verdict ${proved ? "holds" : "fails"}`;
    heading.textContent = proved ? `✓ ${results.length} certificates checked in this page, in exact arithmetic.` : "✗ Not proved.";
    const list = document.createElement("ul");
    list.append(...results.flatMap(({ lines }) => lines).map((line) => {
      const item = document.createElement("li");
      item.textContent = line;
      return item;
    }));
    place.replaceChildren(heading, list);
  }

  download() {
    this.proof.certificates.forEach((text, k) => save(`certificate-${k + 1}.json`, text));
    save("points.csv", this.proof.table);
  }
}

function named(text, x, y) {
  const made = shape("text", { x, y }, "tick");
  made.textContent = text;
  return made;
}

export function save(name, text, type = "text/plain") {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
