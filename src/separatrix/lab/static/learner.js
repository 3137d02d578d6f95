/* The run of the perceptron: choices, look by look, and what each look did. */

import { score } from "./boundary.js";
import { control } from "./controls.js";
import { byId, element, shape, shown, words } from "./shapes.js";
import { CHOICES, DEFAULTS, RECIPES } from "./perceptron.js";

const TITLES = {
  start: "Start", order: "Order of rows", tie: "A score of 0", stop: "Stop after",
  normalize_rows: "Rows scaled to length 1", fit_intercept: "Bias", max_iter: "Most passes", random_state: "Seed",
};
const LIMITS = { max_iter: { min: 1, max: 1000 }, random_state: { min: 0, max: 1000 } };

export class Learner extends EventTarget {
  run = null;
  look = 0; // how many looks have been taken
  #timer = null;

  constructor(scene) {
    super();
    this.scene = scene;
    this.form(byId("choices"));
    const on = (id, act) => byId(id).addEventListener("click", act);
    on("reset", () => this.go(0));
    on("step", () => this.go(this.look + 1));
    on("update", () => this.go(this.nextUpdate()));
    on("pass", () => this.go(this.endOfPass()));
    on("end", () => this.go(Infinity));
    on("play", () => this.play());
    byId("scrub").addEventListener("input", (event) => this.go(Number(event.target.value)));
  }

  form(place) {
    const recipe = element("select", { id: "recipe" });
    const all = Object.entries(RECIPES).map(([name, own]) => [name, { ...DEFAULTS, ...own }]);
    recipe.append(...[...all.map(([name]) => name), "custom"].map((name) => new Option(name, name)));
    recipe.options[all.length].disabled = true; // shown where other choices were made
    this.scene.addEventListener("change", () => {
      const same = ([, own]) => Object.entries(own).every(([name, value]) => name === "random_state" || this.scene.choices[name] === value);
      recipe.value = all.find(same)?.[0] ?? "custom";
    });
    place.append(element("label", {}, element("span", {}, "Recipe"), recipe));
    recipe.addEventListener("change", () => {
      this.scene.choices = { ...all.find(([name]) => name === recipe.value)[1], random_state: this.scene.choices.random_state };
      this.scene.changed("choices");
    });
    for (const [name, title] of Object.entries(TITLES)) {
      control(place, this.scene, "choices", name, { title, options: CHOICES[name], ...LIMITS[name] });
    }
  }

  /** A run that begins: its columns and first weights; looks are added as they arrive. */
  begin(start) {
    this.wanted ??= this.atEnd ? Infinity : this.look; // a run that was at its end stays there
    this.run = { columns: start.columns, row: [], epoch: [], score: [], mistake: [], w: [start.w], b: [start.b], ended: "" };
    this.look = 0;
    this.grown();
  }

  more(part) {
    for (const name of ["row", "epoch", "score", "mistake", "w", "b"]) this.run[name].push(...part[name]);
    this.run.ended = part.ended;
    this.grown();
  }

  /** Back to the look that was shown before the run was made anew, as far as there are looks. */
  grown() {
    byId("scrub").max = this.run.row.length;
    this.look = Math.min(this.wanted ?? this.look, this.run.row.length);
    if (this.run.ended !== "") this.wanted = null;
    this.say();
    this.dispatchEvent(new Event("look"));
  }

  clear() {
    if (this.run !== null) this.wanted = this.atEnd ? Infinity : this.look;
    this.run = null;
    this.say();
  }

  get atEnd() { return this.run !== null && this.run.ended !== "" && this.look > 0 && this.look === this.run.row.length; }

  nextUpdate() {
    const next = this.run?.mistake.findIndex((wrong, k) => wrong && k >= this.look) ?? -1;
    return next < 0 ? Infinity : next + 1;
  }

  endOfPass() {
    const { epoch } = this.run ?? { epoch: [] };
    let at = this.look;
    while (at + 1 < epoch.length && epoch[at + 1] === epoch[this.look]) at += 1;
    return at + 1;
  }

  play() {
    const button = byId("play");
    if (this.#timer !== null) {
      clearInterval(this.#timer);
      this.#timer = null;
      button.textContent = "Run";
      return;
    }
    if (this.run === null) return;
    if (this.look >= this.run.row.length) this.go(0);
    button.textContent = "Pause";
    const stride = Math.max(1, Math.round(this.run.row.length / 200));
    this.#timer = setInterval(() => {
      this.go(this.look + stride);
      if (this.run === null || this.look >= this.run.row.length) this.play();
    }, 120);
  }

  go(look) {
    this.wanted = look > (this.run?.row.length ?? 0) && this.run?.ended === "" ? look : null;
    const last = this.run?.row.length ?? 0;
    this.look = Math.max(0, Math.min(look, last));
    this.say();
    this.dispatchEvent(new Event("look"));
  }

  /** How many updates have been made. */
  get mistakes() {
    return this.run?.mistake.slice(0, this.look).filter(Boolean).length ?? 0;
  }

  /** Row, weights before and after the last look; null before the first. */
  get last() {
    if (this.run === null || this.look === 0) return null;
    const k = this.look - 1, { run } = this;
    const at = (i) => ({ w: run.w[i], b: run.b[i] });
    return { row: run.row[k], mistake: run.mistake[k], score: run.score[k], before: at(k), after: at(k + 1) };
  }

  get weights() {
    return this.run === null ? null : { w: this.run.w[this.look], b: this.run.b[this.look] };
  }

  /** Points that the present weights get wrong, or leave on the boundary. */
  get wrong() {
    const { weights } = this;
    if (weights === null) return null;
    return this.scene.points.filter(({ x, y, label }) => label * score(weights, this.run.columns, x, y) <= 0).length;
  }

  say() {
    byId("scrub").value = this.look;
    byId("look-number").textContent = this.run === null ? "0" : `${this.look} of ${this.run.row.length}`;
    byId("ended").textContent = this.run === null ? "" : this.run.ended;
    byId("look").textContent = this.sentence();
    this.drawWeights();
  }

  sentence() {
    if (this.run === null) return "";
    const bias = this.scene.choices.fit_intercept;
    const vector = ({ w, b }) => `(${w.slice(0, 5).map((v) => shown(v)).join(", ")}${w.length > 5 ? ", …" : ""}${bias ? `; ${shown(b)}` : ""})`;
    const { last } = this;
    if (last === null) return `start: ŵ = ${vector(this.weights)}`;
    const { label } = this.scene.points[last.row] ?? { label: 0 };
    const what = `pass ${this.run.epoch[this.look - 1]}, row ${last.row}, label ${label > 0 ? "+1" : "−1"}, score ${shown(last.score)}`;
    const scaled = this.scene.choices.normalize_rows ? ", row scaled to length 1" : "";
    return last.mistake
      ? `${what}: mistake ${this.mistakes}.\nŵ ← ŵ ${label > 0 ? "+" : "−"} x̂${scaled}: ${vector(last.before)} → ${vector(last.after)}`
      : `${what}: correct.\nŵ stays ${vector(last.after)}`;
  }

  /** The first two weights before and after the last look, and the vector y·x̂ that was added. */
  drawWeights() {
    const svg = byId("weights"), { last } = this;
    if (this.run === null) {
      svg.replaceChildren();
      return;
    }
    const before = last?.before.w ?? [0, 0], after = this.weights.w;
    const reach = Math.max(1e-9, ...[before, after].flatMap((w) => [Math.abs(w[0]), Math.abs(w[1])])) * 1.25;
    const place = ([a, b]) => [100 + (a / reach) * 92, 100 - (b / reach) * 92];
    const arrow = (from, to, className) => {
      const [[x1, y1], [x2, y2]] = [place(from), place(to)];
      const long = Math.hypot(x2 - x1, y2 - y1);
      if (long < 0.5) return [];
      const [du, dv] = [(x2 - x1) / long, (y2 - y1) / long];
      const tip = `M${x2} ${y2}l${-8 * du - 4 * dv} ${-8 * dv + 4 * du}l${8 * dv} ${-8 * du}z`;
      return [shape("line", { x1, y1, x2, y2 }, `arrow ${className}`), shape("path", { d: tip }, `tip ${className}`)];
    };
    const moved = last !== null && last.mistake;
    const [u, v] = place(after);
    svg.replaceChildren(
      shape("path", { d: "M4 100H196M100 4V196" }, "axis"),
      ...(moved ? arrow([0, 0], before, "old") : []),
      ...arrow([0, 0], after, "new"),
      ...(moved ? arrow(before, after, "added") : []),
      words("w₁", 182, 94), words("w₂", 104, 14),
      ...(moved ? [words("y·x", (place(before)[0] + u) / 2 + 5, (place(before)[1] + v) / 2 - 5, "tick added")] : []),
    );
    const text = last === null ? "the start" : moved ? "grey: ŵ before; red: y·x̂ added; black: ŵ after" : "no update";
    byId("weights-text").textContent = `First two weights: ${text}.`;
  }
}
