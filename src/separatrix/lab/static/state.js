/* The scene: points and choices, with undo and redo. Views listen for its changes. */

import { CHOICES, DEFAULTS as PERCEPTRON } from "./perceptron.js";

export const MOST_POINTS = 500;
const MOST_STEPS_BACK = 200;

export const DEFAULTS = {
  choices: PERCEPTRON,
  features: { x2: false, y2: false, xy: false, degree: 1, bumps: 0, gamma: 1 },
  study: { share: 0, seed: 0 },
  descent: { loss: "squared", step: 0.1, momentum: 0, steps: 60 },
};
const LEARNERS = ["lda", "logistic", "max-margin"];

export class Scene extends EventTarget {
  points = [];
  axes = ["x", "y"];
  fixed = false; // whether the points stay as they are
  #back = [];
  #forth = [];

  constructor() {
    super();
    this.restore({});
  }

  get canUndo() { return this.#back.length > 0; }

  get canRedo() { return this.#forth.length > 0; }

  get hasBothClasses() { return new Set(this.points.map(({ label }) => label)).size === 2; }

  /** Whether learners see more columns than x and y. */
  get bent() {
    const { x2, y2, xy, degree, bumps } = this.features;
    return x2 || y2 || xy || degree > 1 || bumps > 0;
  }

  /** Keep what is there for undo; call before a change, once for a whole drag. */
  remember() {
    this.#back.push(JSON.stringify(this.points));
    if (this.#back.length > MOST_STEPS_BACK) this.#back.shift();
    this.#forth = [];
  }

  changed(what = "points") {
    this.dispatchEvent(new CustomEvent("change", { detail: what }));
  }

  add(x, y, label) {
    if (this.points.length >= MOST_POINTS) return -1;
    this.remember();
    this.points.push({ x, y, label });
    this.changed();
    return this.points.length - 1;
  }

  move(index, x, y) {
    Object.assign(this.points[index], { x, y });
    this.dispatchEvent(new CustomEvent("change", { detail: "move" }));
  }

  flip(index) {
    if (this.points[index] === undefined) return;
    this.remember();
    this.points[index].label *= -1;
    this.changed();
  }

  remove(index) {
    if (this.points[index] === undefined) return;
    this.remember();
    this.points.splice(index, 1);
    this.changed();
  }

  replace(points) {
    this.remember();
    this.points = points;
    this.changed();
  }

  undo() {
    if (!this.canUndo) return;
    this.#forth.push(JSON.stringify(this.points));
    this.points = JSON.parse(this.#back.pop());
    this.changed();
  }

  redo() {
    if (!this.canRedo) return;
    this.#back.push(JSON.stringify(this.points));
    this.points = JSON.parse(this.#forth.pop());
    this.changed();
  }

  /** Set one value of choices, features, study or descent. */
  choose(part, name, value) {
    this[part][name] = value;
    this.changed(part);
  }

  /** Choices of every part: those given, and defaults for the others; a value of another type or word is left out. */
  restore(given) {
    for (const [part, defaults] of Object.entries(DEFAULTS)) {
      const known = Object.entries(given?.[part] ?? {}).filter(([name, value]) => Object.hasOwn(defaults, name) && typeof value === typeof defaults[name] && (part !== "choices" || (CHOICES[name]?.includes(value) ?? true)));
      this[part] = { ...defaults, ...Object.fromEntries(known) };
    }
    const learners = Array.isArray(given?.learners) ? given.learners.filter((name) => typeof name === "string").slice(0, 3) : LEARNERS;
    this.learners = [...learners];
  }

  asJson() {
    const { points, choices, features, learners, study, descent } = this;
    return { points, choices, features, learners, study, descent };
  }

  /** A scene from a link or a file: anything that is not one is refused. */
  static read(text) {
    const found = JSON.parse(text);
    const points = found?.points;
    const good = Array.isArray(points) && points.length <= MOST_POINTS && points.every((p) =>
      Number.isFinite(p?.x) && Number.isFinite(p?.y) && Math.abs(p.x) <= 1e6 && Math.abs(p.y) <= 1e6 &&
      (p.label === 1 || p.label === -1));
    if (!good) throw new Error("this is not a scene");
    return { ...found, points: points.map(({ x, y, label }) => ({ x, y, label })) };
  }
}
