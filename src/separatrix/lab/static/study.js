/* Points held out: errors as the degree grows, the five folds, and the ROC curve with a threshold that moves. */

import { boundary } from "./boundary.js";
import { confusion } from "./compare.js";
import { control } from "./controls.js";
import { byId, chart, element, path, percent, shape, shown, words } from "./shapes.js";

const STEPS = 200; // of the threshold's slider

export class Study extends EventTarget {
  answer = null;
  fit = null;
  threshold = 0;

  constructor(scene) {
    super();
    this.scene = scene;
    const place = byId("study-choices");
    control(place, scene, "study", "share", { title: "Held out", slider: true, min: 0, max: 0.6, step: 0.1, show: percent });
    control(place, scene, "study", "seed", { title: "Seed of the split", min: 0, max: 1000 });
    byId("threshold").addEventListener("input", (event) => this.move(Number(event.target.value)));
    byId("show-folds").addEventListener("change", () => this.dispatchEvent(new Event("threshold")));
  }

  set(answer, fits, why = "") {
    this.answer = answer;
    this.fit = fits?.fits[0] ?? null;
    this.columns = fits?.columns ?? null;
    this.threshold = 0;
    byId("study-status").textContent = answer?.problem ?? why;
    byId("study-learner").textContent = answer === null ? "" : `Learner ①: ${answer.learner}. Choose another under Learners.`;
    this.fillSlider();
    this.curves();
    this.folds();
    this.ranking();
  }

  /** Scores of judged points, smallest first. */
  get judged() {
    if (this.answer === null || this.fit === null || this.fit.problem !== null) return [];
    return this.answer.judged.map((k) => ({ k, score: this.fit.scores[k], plus: this.scene.points[k]?.label > 0 }));
  }

  fillSlider() {
    const scores = this.judged.map(({ score }) => score);
    const low = Math.min(0, ...scores), high = Math.max(0, ...scores), room = (high - low) * 0.02 || 1;
    this.range = { low: low - room, high: high + room };
    Object.assign(byId("threshold"), { min: 0, max: STEPS, disabled: scores.length === 0 });
    byId("threshold").value = Math.round(((0 - this.range.low) / (this.range.high - this.range.low)) * STEPS);
  }

  move(step) {
    this.threshold = this.range.low + (step / STEPS) * (this.range.high - this.range.low);
    this.ranking();
    this.dispatchEvent(new Event("threshold"));
  }

  /** Counts, precision and recall at the threshold. */
  get rates() {
    const counts = { true_plus: 0, false_minus: 0, false_plus: 0, true_minus: 0 };
    for (const { score, plus } of this.judged) counts[`${(score >= this.threshold) === plus ? "true" : "false"}_${score >= this.threshold ? "plus" : "minus"}`] += 1;
    const { true_plus: hit, false_minus: missed, false_plus: alarm } = counts;
    return { counts, recall: hit + missed ? hit / (hit + missed) : null, precision: hit + alarm ? hit / (hit + alarm) : null };
  }

  ranking() {
    const svg = byId("roc"), roc = this.answer?.roc ?? null;
    byId("roc-part").hidden = roc === null;
    if (roc === null) return;
    const place = (x, y) => [36 + x * 165, 175 - y * 165];
    const steps = roc.fpr.flatMap((x, k) => (k ? [place(x, roc.tpr[k - 1]), place(x, roc.tpr[k])] : [place(x, roc.tpr[k])]));
    const { counts, recall, precision } = this.rates;
    const alarms = counts.false_plus / Math.max(1, counts.false_plus + counts.true_minus);
    const [cx, cy] = place(alarms, recall ?? 0);
    chart(svg, { right: 201, x: "false positive rate", y: "recall" },
      shape("path", { d: path([place(0, 0), place(1, 1)]) }, "curve low"),
      shape("path", { d: path(steps) }, "curve norm"), shape("circle", { cx, cy, r: 6 }, "dot"));
    byId("auc").textContent = `AUC ${shown(roc.auc, 3)} (95% interval ${shown(roc.low, 3)} to ${shown(roc.high, 3)}), ${this.answer.held.length ? "held-out points" : "training points: optimistic"}.`;
    byId("threshold-number").textContent = shown(this.threshold, 3);
    byId("rates").textContent = `Recall ${percent(recall)}, precision ${percent(precision)}, false positive rate ${percent(alarms)}.`;
    byId("rates-table").replaceChildren(confusion(counts, "at this threshold"));
  }

  curves() {
    const { answer } = this;
    byId("curve-part").hidden = answer === null || (answer.folds === null && answer.holdout === null);
    if (byId("curve-part").hidden) return;
    const { degrees, folds, holdout } = answer;
    const drawn = [
      ["five folds, training", folds?.mean_train, "low", "○"], ["five folds, validation", folds?.mean_validation, "norm", "●"],
      ["split, training", holdout?.train, "low thin", "△"], ["split, held out", holdout?.held, "high", "▲"],
    ].filter(([, values]) => values !== undefined);
    const top = Math.max(0.05, ...drawn.flatMap(([, values]) => values.filter((v) => v !== null)));
    const place = (degree, value) => [36 + ((degree - 1) / (degrees.length - 1)) * 300 + 8, 175 - (value / top) * 150];
    const parts = drawn.flatMap(([, values, kind, mark]) => {
      const known = degrees.map((degree, k) => [degree, values[k]]).filter(([, value]) => value !== null);
      return [shape("path", { d: path(known.map((pair) => place(...pair))) }, `curve ${kind}`),
        ...known.map((pair) => words(mark, place(...pair)[0] - 5, place(...pair)[1] + 4, "tick dark"))];
    });
    const [u] = place(this.scene.features.degree, 0);
    chart(byId("curve"), { x: "degree", y: `error, up to ${percent(top)}`, ticks: degrees.map((degree) => words(String(degree), place(degree, 0)[0] - 3, 188)) },
      shape("path", { d: `M${u} 10V175` }, "curve axis dashed"), ...parts);
    byId("curve-key").replaceChildren(...drawn.map(([name, , , mark]) => element("li", {}, `${mark} ${name}`)));
    byId("curve-table").replaceChildren(...table(degrees, drawn));
  }

  /** Five bars of points: the fold that judges, and the others that it is fitted on. */
  folds() {
    const folds = this.answer?.folds ?? null;
    byId("folds-part").hidden = folds === null;
    if (folds === null) return;
    const degree = this.scene.features.degree - 1;
    const count = folds.fold.length, wide = 330 / count;
    const rows = folds.validation.map((errors, k) => {
      const cells = folds.fold.map((own, i) => (own === k ? `M${(i * wide).toFixed(2)} ${k * 18 + 3}h${Math.max(0.6, wide - 0.3).toFixed(2)}v12h-${Math.max(0.6, wide - 0.3).toFixed(2)}z` : "")).join("");
      return [shape("path", { d: `M0 ${k * 18 + 9}H330` }, "axis"), shape("path", { d: cells }, "fold"), words(`${k + 1}: ${percent(errors[degree])}`, 338, k * 18 + 14)];
    });
    byId("folds").replaceChildren(...rows.flat());
    byId("folds-text").textContent = `Each fold is judged by a fit on the other four; at degree ${degree + 1} the mean error is ${percent(folds.mean_validation[degree])} (${percent(folds.mean_train[degree])} on training points).`;
  }

  drawn(plane) {
    const line = this.fit !== null && this.fit.problem === null ? boundary(plane, this.fit, this.columns, "boundary line-1", { name: "①", level: this.threshold }) : null;
    const folds = byId("show-folds").checked ? this.answer?.folds ?? null : null;
    return { lines: [line], marks: folds === null ? [] : folds.fold.map((own, k) => plane.note(k, String(own + 1))) };
  }
}

function table(degrees, drawn) {
  const row = (name, cells, kind) => element("tr", {}, element("th", { scope: "row" }, name), ...cells.map((text) => element(kind, kind === "th" ? { scope: "col" } : {}, text)));
  return [row("degree", degrees.map(String), "th"), ...drawn.map(([name, values]) => row(name, values.map(percent), "td"))];
}
