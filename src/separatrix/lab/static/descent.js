/* Gradient descent: the loss over two weights as a map with heights, the path on it, and where it leads. */

import { boundary } from "./boundary.js";
import { control } from "./controls.js";
import { descend } from "./fits.js";
import { byId, path, shape, shown, words } from "./shapes.js";

const SIZE = 320;
const LEVELS = 12;

const SIDE = 41; // of the grid of the surface

/** The loss on a square around the path; far points of a path that diverges are left out. */
function withSurface(answer) {
  const { path: all, objective } = answer, sizes = all.map((w) => Math.max(...w.map(Math.abs)));
  const middle = [...sizes].sort((a, b) => a - b)[Math.floor(sizes.length / 2)];
  const shownPart = all.filter((_, k) => sizes[k] <= Math.max(4 * middle, 1e-9) || all.length <= 2);
  const ends = [0, 1].map((j) => [Math.min(...shownPart.map((w) => w[j])), Math.max(...shownPart.map((w) => w[j]))]);
  const side = Math.max(...ends.map(([low, high]) => high - low)) * 1.6 || 2;
  const [left, bottom] = ends.map(([low, high]) => (low + high) / 2 - side / 2);
  const at = (k) => (k / (SIDE - 1)) * side;
  const values = Array.from({ length: SIDE }, (_, i) => Array.from({ length: SIDE }, (__, j) => objective([left + at(j), bottom + at(i)])));
  return { ...answer, surface: { left, bottom, side, count: SIDE, values } };
}

export class DescentPanel {
  answer = null;

  constructor(scene) {
    const place = byId("descent-choices");
    control(place, scene, "descent", "loss", { title: "Loss", options: ["squared", "logistic", "hinge", "perceptron"] });
    control(place, scene, "descent", "step", {
      title: "Step size", slider: true, min: -3, max: 1.5, step: 0.05,
      scale: Math.log10, unscale: (v) => Number((10 ** v).toPrecision(3)),
    });
    control(place, scene, "descent", "momentum", { title: "Momentum", slider: true, min: 0, max: 0.95, step: 0.05 });
    control(place, scene, "descent", "steps", { title: "Steps", slider: true, min: 1, max: 300 });
    this.scene = scene;
  }

  set(known) {
    const { points, descent } = this.scene;
    const rows = points.map(({ x, y }) => [x, y]), labels = points.map(({ label }) => label);
    this.answer = known ? withSurface(descend(rows, labels, descent)) : null;
    const { answer } = this;
    byId("descent-text").textContent = answer === null ? "There must be points of both classes." : `${answer.path.length - 1} steps; the loss is ${shown(answer.values.at(-1))} at w = (${answer.path.at(-1).map((v) => shown(v)).join(", ")}).`;
    byId("descent-verdict").textContent = answer === null ? "" : this.verdict(answer, descent.step);
    byId("descent-verdict").className = `verdict ${answer?.diverged ? "fails" : "holds"}`;
    this.draw();
  }

  verdict({ diverged, limit: safe, values }, step) {
    const limit = safe === null || this.scene.descent.momentum > 0 ? "" : ` Below a step of ${shown(safe, 3)} = 2/L every step lowers the loss.`;
    if (this.answer.cut) return `✗ Diverges: with a step of ${shown(step, 3)} the weights pass 10⁶ after ${values.length - 1} step${values.length === 2 ? "" : "s"}, where the path ends.${limit}`;
    if (diverged) return `✗ Diverges: with a step of ${shown(step, 3)} the loss rises from ${shown(values[0])} to ${shown(values.at(-1))}.${limit}`;
    const [first, last] = [values[0], values.at(-1)];
    const digits = [4, 6, 8, 12, 16].find((count) => shown(first, count) !== shown(last, count));
    if (digits === undefined) return `The loss stays at ${shown(first)}.${limit}`;
    return `✓ The loss falls from ${shown(first, digits)} to ${shown(last, digits)}.${limit}`;
  }

  draw() {
    const svg = byId("surface");
    if (this.answer === null) {
      svg.replaceChildren();
      return;
    }
    const { surface, path: steps } = this.answer;
    const { left, bottom, side, count, values } = surface;
    const place = ([a, b]) => [((a - left) / side) * SIZE, SIZE - ((b - bottom) / side) * SIZE];
    const flat = values.flat();
    const low = Math.min(...flat), high = Math.max(...flat);
    const cells = Array.from({ length: LEVELS }, () => []);
    const unit = SIZE / (count - 1);
    for (let i = 0; i < count - 1; i += 1) {
      for (let j = 0; j < count - 1; j += 1) {
        const middle = (values[i][j] + values[i][j + 1] + values[i + 1][j] + values[i + 1][j + 1]) / 4;
        const level = Math.sqrt((middle - low) / (high - low || 1)); // more levels near the bottom
        cells[Math.min(LEVELS - 1, Math.floor(level * LEVELS))].push(`M${(j * unit).toFixed(1)} ${(SIZE - (i + 1) * unit).toFixed(1)}h${(unit + 0.2).toFixed(2)}v${(unit + 0.2).toFixed(2)}h-${(unit + 0.2).toFixed(2)}z`);
      }
    }
    const heights = cells.map((own, k) => shape("path", { d: own.join(""), "fill-opacity": (0.05 + (0.6 * k) / LEVELS).toFixed(2) }, "height"));
    const places = steps.map(place);
    svg.replaceChildren(
      ...heights, shape("path", { d: path(places) }, "curve norm"),
      ...places.slice(0, 80).map(([cx, cy]) => shape("circle", { cx, cy, r: 2.5 }, "dot")),
      words("start", places[0][0] + 5, places[0][1] - 5, "tick dark"), words("end", places.at(-1)[0] + 5, places.at(-1)[1] + 14, "tick dark"),
      words(`w₁ from ${shown(left, 3)} to ${shown(left + side, 3)}`, SIZE - 6, SIZE - 6, "tick dark", { "text-anchor": "end" }),
      words(`w₂ from ${shown(bottom, 3)} to ${shown(bottom + side, 3)}`, 6, 16, "tick dark"),
    );
  }

  /** The line of the last weights. */
  drawn(plane) {
    if (this.answer === null) return [];
    const { path: steps, centre } = this.answer;
    const w = steps.at(-1);
    return [boundary(plane, { w, b: -w[0] * centre[0] - w[1] * centre[1] }, null, "boundary")];
  }
}
