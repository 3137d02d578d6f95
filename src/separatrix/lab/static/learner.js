/* The run of the perceptron: choices, look by look, and what each look did. */

const TITLES = {
  start: "Start", order: "Order of rows", tie: "A score of 0", stop: "Stop after",
  normalize_rows: "Rows scaled to length 1", fit_intercept: "Bias", max_epochs: "Most passes", random_state: "Seed",
};
const DEFAULTS = {
  start: "zeros", order: "cyclic", tie: "mistake", stop: "pass",
  normalize_rows: false, fit_intercept: true, max_epochs: 100, random_state: 0,
};
const SHOWN = (v) => String(Number(v.toPrecision(4)));

export class Learner extends EventTarget {
  run = null;
  look = 0; // how many looks have been taken
  #timer = null;

  constructor(scene, options, recipes) {
    super();
    this.scene = scene;
    Object.assign(scene.choices, { ...DEFAULTS, ...scene.choices });
    this.form(document.getElementById("choices"), options, recipes);
    const on = (id, act) => document.getElementById(id).addEventListener("click", act);
    on("reset", () => this.go(0));
    on("step", () => this.go(this.look + 1));
    on("update", () => this.go(this.nextUpdate()));
    on("pass", () => this.go(this.endOfPass()));
    on("end", () => this.go(Infinity));
    on("play", () => this.play());
    document.getElementById("scrub").addEventListener("input", (event) => this.go(Number(event.target.value)));
  }

  form(place, options, recipes) {
    const add = (title, control, check = false) => {
      const label = document.createElement("label");
      if (check) label.className = "check";
      label.append(...(check ? [control, title] : [title, control]));
      place.append(label);
      return control;
    };
    const select = (values) => {
      const made = document.createElement("select");
      made.append(...values.map((value) => new Option(value, value)));
      return made;
    };
    this.controls = {};
    const recipe = add("Recipe", select(["default", ...Object.keys(recipes)]));
    recipe.id = "recipe";
    recipe.addEventListener("change", () => {
      Object.assign(this.scene.choices, DEFAULTS, recipes[recipe.value] ?? {});
      this.fill();
      this.scene.changed("choices");
    });
    for (const [name, title] of Object.entries(TITLES)) {
      const kind = typeof DEFAULTS[name];
      const control = kind === "string" ? select(options[name]) : document.createElement("input");
      if (kind === "boolean") control.type = "checkbox";
      if (kind === "number") Object.assign(control, { type: "number", min: name === "max_epochs" ? 1 : 0, max: 1000 });
      control.id = `choice-${name}`;
      control.addEventListener("change", () => {
        const value = kind === "boolean" ? control.checked : kind === "number" ? Math.round(Number(control.value)) : control.value;
        this.scene.choose(name, value);
      });
      this.controls[name] = add(title, control, kind === "boolean");
    }
    this.fill();
  }

  /** The controls, as the scene has them. */
  fill() {
    for (const [name, control] of Object.entries(this.controls)) {
      if (control.type === "checkbox") control.checked = this.scene.choices[name];
      else control.value = this.scene.choices[name];
    }
  }

  set(run) {
    this.run = run;
    document.getElementById("scrub").max = run === null ? 0 : run.row.length;
    this.go(Math.min(this.look, run === null ? 0 : run.row.length));
  }

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
    const button = document.getElementById("play");
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
    const last = this.run?.row.length ?? 0;
    this.look = Math.max(0, Math.min(look, last));
    this.say();
    this.dispatchEvent(new Event("look"));
  }

  get mistakes() {
    return this.run?.mistake.slice(0, this.look).filter(Boolean).length ?? 0;
  }

  /** Row, weights before and after the last look; null before the first. */
  get last() {
    if (this.run === null || this.look === 0) return null;
    const k = this.look - 1, { run } = this;
    return { row: run.row[k], mistake: run.mistake[k], score: run.score[k], before: [run.w[k], run.b[k]], after: [run.w[k + 1], run.b[k + 1]] };
  }

  get weights() {
    return this.run === null ? null : [this.run.w[this.look], this.run.b[this.look]];
  }

  say() {
    document.getElementById("scrub").value = this.look;
    document.getElementById("look-number").textContent = this.run === null ? "0" : `${this.look} of ${this.run.row.length}`;
    const place = document.getElementById("look");
    document.getElementById("ended").textContent = this.run === null ? "" : this.run.ended;
    if (this.run === null) {
      place.textContent = "";
      return;
    }
    const vector = ([w, b]) => `(${w.map(SHOWN).join(", ")}; ${SHOWN(b)})`;
    const { last } = this;
    if (last === null) {
      place.textContent = `start: ŵ = ${vector(this.weights)}`;
      return;
    }
    const { label } = this.scene.points[last.row] ?? { label: 0 };
    const what = `pass ${this.run.epoch[this.look - 1]}, row ${last.row}, label ${label > 0 ? "+1" : "−1"}, score ${SHOWN(last.score)}`;
    const scaled = this.scene.choices.normalize_rows ? ", row scaled to length 1" : "";
    place.textContent = last.mistake
      ? `${what}: mistake ${this.mistakes}.\nŵ ← ŵ ${label > 0 ? "+" : "−"} x̂${scaled}: ${vector(last.before)} → ${vector(last.after)}`
      : `${what}: right.\nŵ stays ${vector(last.after)}`;
  }
}
