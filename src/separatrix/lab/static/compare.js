/* Up to three learners side by side: which, their lines and confusion matrices, and the shading of one of them. */

import { boundary, shading } from "./boundary.js";
import { byId, element, percent } from "./shapes.js";

export const MARKS = ["①", "②", "③"];

export class Compare extends EventTarget {
  fits = null;
  columns = null;
  shaded = 0; // the learner whose predictions are shaded, from 1; 0 for none

  constructor(scene, learners) {
    super();
    this.scene = scene;
    this.selects = MARKS.map((mark, k) => {
      const select = element("select", { id: `learner-${k + 1}` });
      select.append(new Option("none", ""), ...learners.map(({ name, title }) => new Option(title, name)));
      select.addEventListener("change", () => this.choose(k, select.value));
      byId("learners").append(element("label", {}, element("span", {}, `${mark} `, element("span", { class: `sample line-${k + 1}`, "aria-hidden": "true" }), ` Learner ${k + 1}`), select));
      return select;
    });
    for (const radio of document.querySelectorAll("input[name=shade]")) {
      radio.addEventListener("change", () => {
        this.shaded = Number(radio.value);
        this.dispatchEvent(new Event("shade"));
      });
    }
    scene.addEventListener("change", () => this.fill());
    this.fill();
  }

  /** Learners without gaps: choosing none for the second moves the third up. */
  choose(k, name) {
    const chosen = this.selects.map((select, j) => (j === k ? name : select.value)).filter(Boolean);
    this.scene.learners = [...new Set(chosen)];
    this.scene.changed("learners");
  }

  fill() {
    this.selects.forEach((select, k) => { select.value = this.scene.learners[k] ?? ""; });
  }

  set(answer, why = "") {
    this.fits = answer?.fits ?? null;
    this.columns = answer?.columns ?? null;
    byId("fits").replaceChildren(...(this.fits ?? []).map((fit, k) => this.card(fit, k)));
    byId("fits-status").textContent = why;
  }

  card(fit, k) {
    const title = element("h3", {}, `${MARKS[k]} ${fit.title}`);
    if (fit.problem !== null) return element("div", { class: "card" }, title, element("p", { class: "fails" }, fit.problem));
    const tables = [confusion(fit.train, fit.held === null ? "all points" : "training points")];
    if (fit.held !== null) tables.push(confusion(fit.held, "held-out points"));
    return element("div", { class: "card" }, title, ...tables);
  }

  /** What the plane shows of them: shading behind, lines with their numbers. */
  drawn(plane) {
    const good = (this.fits ?? []).filter(({ problem }) => problem === null);
    const chosen = this.fits?.[this.shaded - 1];
    const behind = chosen !== undefined && chosen.problem === null ? shading(plane, chosen, this.columns, chosen.probability) : [];
    const lines = (this.fits ?? []).map((fit, k) =>
      (good.includes(fit) ? boundary(plane, fit, this.columns, `boundary line-${k + 1}`, { name: MARKS[k], along: 0.08 + 0.13 * k }) : null));
    return { behind, lines };
  }
}

/** A confusion matrix with its accuracy; rows are the classes, columns what was predicted. */
export function confusion({ true_plus: a, false_minus: b, false_plus: c, true_minus: d }, caption) {
  const cell = (value, name, good) => element("td", { class: good ? "good" : "bad", title: name }, String(value), element("small", {}, good ? " ✓" : " ✗"));
  const row = (name, ...cells) => element("tr", {}, element("th", { scope: "row" }, name), ...cells);
  const head = element("tr", {}, element("td", { class: "corner" }), element("th", { scope: "col" }, "said +"), element("th", { scope: "col" }, "said −"));
  return element("table", { class: "confusion" },
    element("caption", {}, `${caption}: ${percent((a + d) / Math.max(1, a + b + c + d))} correct`),
    head, row("plus", cell(a, "true plus", true), cell(b, "false minus", false)), row("minus", cell(c, "false plus", false), cell(d, "true minus", true)));
}
