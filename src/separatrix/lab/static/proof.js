/* What is proved of the points: the verdict in words, the bound and its two inequalities, and the check of the
 * certificates in this page by checker.js (whose functions are global). */

import { byId, element, shape, shown, words } from "./shapes.js";

const SHOWN = (v) => shown(v, 6);
const VERDICTS = {
  complete: ["holds", "✓", (line) => `A ${line} separates the classes (proved).`],
  quasi: ["fails", "✗", (line) => `No ${line} has all points strictly on their correct sides, but one has none on its wrong side (proved).`],
  overlap: ["fails", "✗", (line) => `No ${line} separates the classes (proved).`],
  undecided: ["fails", "?", () => "Not decided."],
};
const points = (rows) => `${rows.length === 1 ? "point" : "points"} ${rows.slice(0, 20).join(", ")}${rows.length > 20 ? ", …" : ""}`;

export class ProofPanel {
  proof = null;

  constructor(scene) {
    this.scene = scene;
    const on = (id, act) => byId(id).addEventListener("click", act);
    on("check", () => this.check());
    on("download", () => this.download());
  }

  set(proof, why = "") {
    this.proof = proof;
    const [kind, mark, sentence] = proof === null ? ["", "", () => why] : VERDICTS[proof.verdict];
    byId("verdict").className = `verdict ${kind}`;
    byId("verdict").textContent = sentence(this.line);
    byId("verdict").dataset.mark = mark;
    byId("facts").replaceChildren(...this.facts().map((text) => element("li", {}, text)));
    byId("checked").replaceChildren();
    byId("check").disabled = proof === null;
    byId("download").disabled = proof === null;
  }

  /** What would separate the classes: the boundary is straight in its columns, and may have to pass through the origin. */
  get line() {
    const { bent, choices } = this.scene;
    const count = this.proof?.columns.length;
    return `${bent ? `${count > 3 ? "hyperplane" : "plane"} in the ${count} columns` : "line"}${choices.fit_intercept ? "" : " through the origin"}`;
  }

  facts() {
    const { proof } = this;
    if (proof === null) return [];
    const made = [];
    if (proof.witness.length > 0) {
      const where = this.scene.bent ? " in the space of the columns" : "";
      const what = this.scene.choices.fit_intercept ? "the hulls of their classes meet" : "the cones from the origin over their classes meet";
      made.push(`The ${points(proof.witness)} alone rule it out: ${what}${where}.`);
    }
    if (proof.gap !== null) {
      const { lower, upper, edges } = proof.gap;
      const width = upper - lower <= 1e-9 * upper ? SHOWN(lower) : `between ${SHOWN(lower)} and ${SHOWN(upper)}`;
      made.push(`The largest margin is ${width} on each side (proved); ${points(edges)} ${edges.length === 1 ? "lies" : "lie"} on its edges.`);
    }
    if (proof.mistakes !== null) {
      const { lower, upper, rows } = proof.mistakes;
      const count = lower === upper ? `${lower} (proved)` : `between ${lower} and ${upper} (proved)`;
      made.push(`The minimum number of mistakes is ${count}; without ${points(rows)} a ${this.line} separates the others.`);
    }
    const named = { x: this.scene.axes[0], y: this.scene.axes[1], intercept: "the intercept" };
    for (const [name, fate] of Object.entries(proof.coefficients).filter(([, own]) => own.endsWith("inf"))) {
      made.push(`Logistic regression: the coefficient of ${named[name] ?? name} tends to ${fate.startsWith("+") ? "+∞" : "−∞"} (proved).`);
    }
    if (proof.verdict === "overlap") made.push("Logistic regression has a finite maximum-likelihood estimate (proved).");
    const { start, normalize_rows: scaled } = this.scene.choices;
    if (proof.bound !== null && (start !== "zeros" || scaled)) {
      made.push("The bound on the mistakes holds for a start at zero and rows as they are; other choices are not shown against it.");
    }
    return made;
  }

  /** The bound as a bar that fills, and |w| between k·γ and √k·R. Holds for a start at zero and rows as they are. */
  showBound(learner) {
    const part = byId("bound-part");
    const bound = this.proof?.bound ?? null;
    const { start, normalize_rows: scaled } = this.scene.choices;
    part.hidden = bound === null || start !== "zeros" || scaled || learner.run === null;
    if (part.hidden) return;
    const k = learner.mistakes;
    byId("bound-text").textContent = `${k} mistakes so far, of at most ${shown(bound.most, 15)} (proved)`;
    byId("bound-why").textContent = `R = ${SHOWN(bound.radius)}, lifted margin γ = ${SHOWN(bound.margin)}: at most (R/γ)² mistakes from a start at zero, in any order.`;
    Object.assign(byId("bound-bar"), { max: Math.max(bound.most, 1), value: k });
    this.squeeze(bound, learner, k);
  }

  /** Both inequalities over the root of k, so that few mistakes are seen under a large bound. */
  squeeze(bound, learner, k) {
    const most = Math.max(bound.most, 1);
    const top = Math.max(bound.margin * most, bound.radius * Math.sqrt(most));
    const place = (n, value) => [30 + Math.sqrt(n / most) * 320, 180 - (value / top) * 165];
    const curve = (values) => values.map(([n, v], i) => `${i ? "L" : "M"}${place(n, v).map((t) => t.toFixed(1)).join(" ")}`).join("");
    const steps = Array.from({ length: 61 }, (_, i) => (i / 60) ** 2 * most);
    const norms = [[0, 0]];
    learner.run.mistake.slice(0, learner.look).forEach((wrong, i) => {
      if (wrong) norms.push([norms.length, Math.hypot(...learner.run.w[i + 1], this.scene.choices.fit_intercept ? learner.run.b[i + 1] : 0)]);
    });
    const [u, v] = place(...norms.at(-1));
    byId("squeeze").replaceChildren(
      shape("path", { d: "M30 10V180H352" }, "curve axis"),
      shape("path", { d: curve(steps.map((n) => [n, bound.margin * n])) }, "curve low"),
      shape("path", { d: curve(steps.map((n) => [n, bound.radius * Math.sqrt(n)])) }, "curve high"),
      shape("path", { d: curve(norms) }, "curve norm"),
      shape("circle", { cx: u, cy: v, r: 4 }, "dot"),
      words(`k = ${shown(most, 15)}`, 352, 196, "tick", { "text-anchor": "end" }), words("0 mistakes", 30, 196),
      words("√k·R", ...place(most * 0.25, bound.radius * Math.sqrt(most * 0.25) * 1.16)), words("k·γ", ...place(most * 0.55, bound.margin * most * 0.42)),
    );
    byId("squeeze-text").textContent =
      `After k mistakes k·γ ≤ |ŵ| ≤ √k·R (dashed and thin line, drawn over √k): they meet at (R/γ)². |ŵ| (thick) after ${k} mistakes is ${SHOWN(norms.at(-1)[1])}.`;
  }

  /** Each certificate against the points, by the checker in this page, which is loaded when it is first needed. */
  async check() {
    const { proof } = this;
    await (this.checker ??= loaded("/checker.js"));
    if (proof !== this.proof) return; // the points have changed meanwhile
    const results = proof.certificates.map((certificate) => verify(certificate, proof.table, "points.csv", "label"));
    const proved = results.every(({ code }) => code === 0);
    byId("checked").replaceChildren(
      element("p", { class: `verdict ${proved ? "holds" : "fails"}` },
        proved ? `✓ ${results.length} certificates checked in this page, in exact arithmetic.` : "✗ Not proved."),
      element("ul", {}, ...results.flatMap(({ lines }) => lines).map((line) => element("li", {}, line))),
    );
  }

  download() {
    this.proof.certificates.forEach((text, k) => save(`certificate-${k + 1}.json`, text));
    save("points.csv", this.proof.table);
  }
}

function loaded(source) {
  return new Promise((done, failed) => {
    const script = element("script", { src: source });
    script.addEventListener("load", done);
    script.addEventListener("error", failed);
    document.head.append(script);
  });
}

export function save(name, content, type = "text/plain") {
  const blob = content instanceof Blob ? content : new Blob([content], { type });
  const link = element("a", { href: URL.createObjectURL(blob), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
