/* Controls that belong to one value of the scene: selects, checkboxes, numbers and sliders, filled anew when it changes. */

import { element } from "./shapes.js";

/** Put a control for scene[part][name] into a place. A slider may show and keep its value through a scale. */
export function control(place, scene, part, name, { title, options, min, max, step = 1, slider = false, scale = (v) => v, unscale = (v) => v, show = String }) {
  const kind = typeof scene[part][name];
  const input = kind === "string" ? element("select") : element("input");
  if (kind === "string") input.append(...options.map((value) => new Option(value, value)));
  else if (kind === "boolean") input.type = "checkbox";
  else Object.assign(input, { type: slider ? "range" : "number", min, max, step });
  input.id = place.id === "choices" ? `choice-${name}` : `${place.id}-${name}`;
  const value = element("output", { for: input.id });
  const label = element("label", { for: input.id, ...(kind === "boolean" && { class: "check" }) }); // an output within would take it
  const caption = element("span", {}, title, ...(slider ? [" ", value] : []));
  label.append(...(kind === "boolean" ? [input, caption] : [caption, input]));
  place.append(label);
  const fill = () => {
    const own = scene[part][name];
    if (kind === "boolean") input.checked = own;
    else input.value = slider ? scale(own) : own;
    value.textContent = show(own);
  };
  input.addEventListener(slider ? "input" : "change", () => {
    if (kind === "boolean") scene.choose(part, name, input.checked);
    else if (kind === "string") scene.choose(part, name, input.value);
    else if (input.value !== "" && Number.isFinite(Number(input.value))) scene.choose(part, name, unscale(Number(input.value)));
    fill();
  });
  scene.addEventListener("change", fill);
  fill();
  return input;
}
