/* A line that the reader holds: w is an arrow from a foot on the line; its tip turns the line, its foot moves it. */

import { shape, words } from "./shapes.js";

const TARGET = 16; // pixels: half the size of what a finger hits

export class Handles {
  line = null; // { w, foot }; the line passes through foot, across w
  #held = null;

  constructor(plane) {
    this.plane = plane;
    this.layer = plane.layers.handles;
  }

  /** The line w·x + b = 0 in the hand; null puts it away. Without a bias the foot stays at the origin. */
  hold(line, bias = true) {
    const [w1, w2] = line?.w ?? [0, 0], square = w1 * w1 + w2 * w2;
    this.bias = bias;
    if (line === null || !(square > 0)) this.line = null;
    else {
      const { x, y, wide, high } = this.plane.window, [cx, cy] = bias ? [x + wide / 2, y + high / 2] : [0, 0];
      const away = (w1 * cx + w2 * cy + line.b) / square; // the foot is the point of the line nearest to the middle
      this.line = { w: [w1, w2], foot: bias ? [cx - away * w1, cy - away * w2] : [0, 0] };
    }
    this.draw();
  }

  /** What the hand holds as w and b. */
  get held() {
    if (this.line === null) return null;
    const { w, foot } = this.line;
    return { w, b: this.bias ? -(w[0] * foot[0] + w[1] * foot[1]) : 0 };
  }

  get #tip() {
    const { w, foot } = this.line;
    return [foot[0] + w[0], foot[1] + w[1]];
  }

  set(part, [x, y]) {
    const { line } = this;
    if (part === "foot") line.foot = [x, y];
    else {
      const w = [x - line.foot[0], y - line.foot[1]].map((v) => Number(v.toPrecision(12)));
      if (Math.hypot(...w) > 0) line.w = w;
    }
    this.draw();
    this.plane.onLine?.(this.held);
  }

  partOf(event) {
    return event.target.closest?.("[data-handle]")?.dataset.handle ?? null;
  }

  down(event) {
    this.#held = this.partOf(event);
    if (this.#held !== null) this.plane.svg.setPointerCapture(event.pointerId);
    return this.#held !== null;
  }

  dragged(event) {
    if (this.#held === null) return false;
    this.set(this.#held, this.plane.at(event));
    return true;
  }

  up() { this.#held = null; }

  get busy() { return this.#held !== null; }

  key(event) {
    const part = this.partOf(event);
    const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key];
    if (part === null || step === undefined) return false;
    event.preventDefault();
    const share = event.shiftKey ? 1 / 10 : 1 / 50, { wide, high } = this.plane.window;
    const [x, y] = part === "foot" ? this.line.foot : this.#tip;
    this.set(part, [x + step[0] * share * wide, y + step[1] * share * high].map((v) => Number(v.toPrecision(12))));
    return true;
  }

  draw() {
    const { layer, plane } = this;
    if (this.line === null) {
      layer.replaceChildren();
      return;
    }
    const number = (v) => String(Number(v.toPrecision(3))).replace("-", "−");
    const part = (name, place, text) => {
      const [cx, cy] = plane.toPicture(...place), group = layer.querySelector(`[data-handle=${name}]`) ?? shape("g", { tabindex: "0", role: "button", "data-handle": name }, "handle");
      group.setAttribute("aria-label", text);
      if (group.children.length === 0) group.append(shape("circle", {}, "target"), shape("circle", {}, "grip"));
      [TARGET, name === "foot" ? 6 : 9].forEach((size, k) => { for (const [key, value] of Object.entries({ cx, cy, r: size * plane.unit })) group.children[k].setAttribute(key, value); });
      return group;
    };
    const { w, foot } = this.line, [u, v] = plane.toPicture(...this.#tip);
    const parts = [part("tip", this.#tip, `w, now ${number(w[0])}, ${number(w[1])}: arrow keys turn it`)];
    if (this.bias) parts.unshift(part("foot", foot, "the line: arrow keys move it"));
    const arrow = plane.arrow(foot, this.#tip, "held");
    const name = words("w", u + 12 * plane.unit, v - 8 * plane.unit, "line-name");
    for (const old of [...layer.children]) if (!parts.includes(old)) old.remove();
    layer.prepend(...[arrow].filter(Boolean));
    for (const own of parts) if (own.parentNode === null) layer.append(own);
    layer.append(name);
  }
}
