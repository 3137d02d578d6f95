/* The scene to take along: a link, a file, a picture, and Python code that gives the same numbers. */

import { save } from "./proof.js";
import { qrCode } from "./qr.js";
import { byId, shape } from "./shapes.js";
import { DEFAULTS, Scene } from "./state.js";

const PAINT = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-dasharray", "opacity", "font-size", "font-family", "text-anchor"];
const MOST_BYTES = 200000; // of a scene file

const PARTS = ["choices", "features", "study", "descent"];

/** The scene in the fragment of the address; null where there is none. */
export function sharedScene() {
  const fragment = new URLSearchParams(location.hash.slice(1));
  if (!fragment.has("points")) return null;
  const points = fragment.get("points").split(";").filter(Boolean).map((part) => {
    const [x, y, label] = part.split(",");
    return { x: Number(x || NaN), y: Number(y || NaN), label: { p: 1, n: -1 }[label] };
  });
  const scene = { points };
  for (const [name, text] of fragment) {
    const [part, key] = name.split(".");
    if (!PARTS.includes(part) || key === undefined) continue;
    const kind = typeof DEFAULTS[part][key];
    (scene[part] ??= {})[key] = kind === "number" ? Number(text) : kind === "boolean" ? text === "true" : text;
  }
  if (fragment.has("learners")) scene.learners = fragment.get("learners").split(",").filter(Boolean);
  return Scene.read(JSON.stringify(scene));
}

/** The fragment that holds a scene: its points, and what is not as by default. */
export function fragmentOf(scene) {
  const points = scene.points.map(({ x, y, label }) => `${x},${y},${label > 0 ? "p" : "n"}`).join(";");
  const changed = PARTS.flatMap((part) => Object.entries(scene[part]).filter(([key, value]) => value !== DEFAULTS[part][key]).map(([key, value]) => `&${part}.${key}=${value}`));
  return `#points=${points}${changed.join("")}&learners=${scene.learners.join(",")}`;
}

/** A copy of the picture that carries its own colours, since a file has no style sheet. */
export function standalone(svg) {
  const copy = svg.cloneNode(true);
  const copies = copy.querySelectorAll("*");
  svg.querySelectorAll("*").forEach((own, k) => {
    const style = getComputedStyle(own);
    for (const name of PAINT) copies[k].setAttribute(name, style.getPropertyValue(name));
    
    copies[k].removeAttribute("tabindex");
  });
  for (const name of ["class", "id", "style", "tabindex", "role", "aria-label"]) copy.removeAttribute(name);
  copy.querySelectorAll(".target").forEach((own) => own.remove());
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  copy.setAttribute("width", "900");
  copy.setAttribute("height", "900");
  const paper = document.createElementNS("http://www.w3.org/2000/svg", "rect");
  for (const [name, value] of Object.entries({ width: 600, height: 600, fill: getComputedStyle(svg).backgroundColor })) paper.setAttribute(name, value);
  copy.prepend(paper);
  copies.forEach((own) => own.removeAttribute("class"));
  return new XMLSerializer().serializeToString(copy);
}

async function asPng(text) {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
  await image.decode();
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = 900;
  canvas.getContext("2d").drawImage(image, 0, 0);
  return new Promise((made) => { canvas.toBlob(made, "image/png"); });
}

/** The address as a QR code over the whole page, for phones in front of a projector. */
function showCode(scene) {
  history.replaceState(null, "", fragmentOf(scene));
  const code = qrCode(location.href), size = (code?.length ?? 0) + 8;
  byId("qr").setAttribute("viewBox", `0 0 ${size} ${size}`);
  const modules = (code ?? []).flatMap((row, y) => row.map((dark, x) => (dark ? `M${x + 4} ${y + 4}h1v1h-1z` : "")));
  byId("qr").replaceChildren(shape("rect", { width: size, height: size, fill: "#fff" }), shape("path", { d: modules.join(""), fill: "#000" }));
  byId("qr-text").textContent = code === null ? "The address of this scene is too long for a QR code: use fewer points." : location.href;
  byId("qr-part").showModal();
}

export function shareForm(scene, { say, open }) {
  const on = (id, act) => byId(id).addEventListener("click", act);
  on("show-qr", () => showCode(scene));
  on("link", () => {
    history.replaceState(null, "", fragmentOf(scene));
    byId("address").value = location.href;
    byId("frame").value = `<iframe src="${location.href}&embed=yes" width="760" height="820" title="Separatrix"></iframe>`;
    navigator.clipboard?.writeText(location.href).catch(() => {});
    say("The address of this page holds the scene.");
  });
  on("export-json", () => save("scene.json", JSON.stringify(scene.asJson(), null, 1), "application/json"));
  on("export-svg", () => save("scene.svg", standalone(byId("plane")), "image/svg+xml"));
  on("export-png", async () => save("scene.png", await asPng(standalone(byId("plane")))));
  on("export-code", () => save("scene.py", byId("code").textContent));
  byId("open-json").addEventListener("change", async (event) => {
    const [file] = event.target.files;
    try {
      if (file.size > MOST_BYTES) throw new Error(`it is larger than ${MOST_BYTES} bytes`);
      open(Scene.read(await file.text()), "from a file");
      say("The scene was opened.");
    } catch (error) {
      say(`This file does not hold a scene: ${error instanceof SyntaxError ? "it is not JSON" : error.message}.`);
    }
    event.target.value = "";
  });
}

const literal = (value) => (value === true ? "True" : value === false ? "False" : JSON.stringify(value));
const call = (kind, parameters) => `${kind}(${Object.entries(parameters).map(([name, value]) => `${name}=${literal(value)}`).join(", ")})`;

/** Python code with the numbers of the page: columns, verdict, run and learners; `held` are the rows held out. */
export function python(scene, columns, held, learners) {
  const rows = scene.points.map(({ x, y }) => `(${x}, ${y})`).join(", ");
  const labels = scene.points.map(({ label }) => label).join(", ");
  const chosen = learners.filter(({ name }) => scene.learners.includes(name)).sort((a, b) => scene.learners.indexOf(a.name) - scene.learners.indexOf(b.name));
  const kinds = [...new Set(["Perceptron", ...chosen.map(({ kind }) => kind)])].sort();
  const lines = ["import numpy as np", `from separatrix import ${[...kinds, "separability"].join(", ")}`, "from separatrix.models.perceptron import step_trace", "", `X = [${rows}]`, `y = [${labels}]`];
  const powers = (columns ?? []).filter(({ gamma }) => gamma === 0).map(({ a, b }) => `(${a}, ${b})`);
  const bumps = (columns ?? []).filter(({ gamma }) => gamma > 0);
  lines.push("a, b = np.array(X, dtype=float).T");
  lines.push(scene.bent ? `Z = [a**j * b**k for j, k in [${powers.join(", ")}]]` : "Z = [a, b]");
  if (bumps.length) lines.push(`Z += [np.exp(-${bumps[0].gamma} * ((a - u) ** 2 + (b - v) ** 2)) for u, v in [${bumps.map(({ u, v }) => `(${u}, ${v})`).join(", ")}]]`);
  lines.push("Z, y = np.column_stack(Z), np.array(y)", `train = np.setdiff1d(np.arange(len(y)), ${JSON.stringify(held)})`, "");
  lines.push(`print(separability(Z, y, fit_intercept=${literal(scene.choices.fit_intercept)}))`);
  lines.push(`print(step_trace(${call("Perceptron", scene.choices)}, Z, y, positive=1))`);
  for (const { name, kind, parameters } of chosen) {
    lines.push(`model = ${call(kind, name === "perceptron" ? scene.choices : parameters)}.fit(Z[train], y[train])`);
    lines.push(`print(${JSON.stringify(kind)}, model.coef_, model.intercept_, "mistakes", np.sum(model.predict(Z[train]) != y[train]))`);
  }
  return `${lines.join("\n")}\n`;
}
