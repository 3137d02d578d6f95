/* The columns that learners and proofs see, chosen by the user. */

import { control } from "./controls.js";
import { byId } from "./shapes.js";

const SUPER = { 2: "²", 3: "³", 4: "⁴", 5: "⁵", 6: "⁶" };

export function featureForm(scene) {
  const singles = byId("features-single"), more = byId("features-more");
  control(singles, scene, "features", "x2", { title: "x²" });
  control(singles, scene, "features", "y2", { title: "y²" });
  control(singles, scene, "features", "xy", { title: "xy" });
  const degree = { title: "All monomials up to degree", slider: true, min: 1, max: 6 };
  control(more, scene, "features", "degree", degree);
  control(more, scene, "features", "bumps", { title: "RBF: bumps exp(−γ|x − c|²) at so many points", slider: true, min: 0, max: 16 });
  control(more, scene, "features", "gamma", {
    title: "Width of the bumps: γ times the variance", slider: true, min: -2, max: 2, step: 0.1,
    scale: Math.log10, unscale: (v) => Number((10 ** v).toPrecision(3)),
  });
  control(byId("study-degree"), scene, "features", "degree", { ...degree, title: "Degree of the boundary" });
}

/** The names of the columns, as mathematics has them. */
export function sayColumns(columns) {
  const name = ({ name: own }) => own.replace(/\^(\d)/g, (_, k) => SUPER[k]).replace(" ", "");
  const plain = columns.filter(({ gamma }) => gamma === 0).map(name);
  const bumps = columns.length - plain.length;
  byId("columns-text").textContent = `${columns.length} columns: ${plain.join(", ")}${bumps ? `, and ${bumps} bumps` : ""}.`;
}
