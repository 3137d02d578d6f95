/* The scene: points and choices, with undo and redo. Views listen for its changes. */

export const MOST_POINTS = 500;
const MOST_STEPS_BACK = 200;

export class Scene extends EventTarget {
  points = [];
  choices = {};
  axes = ["x", "y"];
  #back = [];
  #forth = [];

  get canUndo() { return this.#back.length > 0; }

  get canRedo() { return this.#forth.length > 0; }

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

  choose(name, value) {
    this.choices[name] = value;
    this.changed("choices");
  }

  asJson() {
    return { points: this.points, choices: this.choices };
  }

  /** A scene from a link or a file: anything that is not one is refused. */
  static read(text) {
    const found = JSON.parse(text);
    const points = found?.points;
    const good = Array.isArray(points) && points.length <= MOST_POINTS && points.every((p) =>
      Number.isFinite(p?.x) && Number.isFinite(p?.y) && Math.abs(p.x) <= 1e6 && Math.abs(p.y) <= 1e6 &&
      (p.label === 1 || p.label === -1));
    if (!good) throw new Error("this is not a scene");
    return { points: points.map(({ x, y, label }) => ({ x, y, label })), choices: found.choices ?? {} };
  }
}
