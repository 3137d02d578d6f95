/* Answers about a scene: from the page itself where it has them, else from the server. Its token comes in the fragment of the
 * address that `separatrix lab` printed; without one the page works alone. */

import { canFit, fitsOf, isPlain, LEARNERS, proofOf, runOf } from "./answers.js";
import file from "./scenes.json" with { type: "json" };

export const NEEDS_PYTHON = "This needs Python: run separatrix lab on your machine.";

const given = /(?:^#|&)token=([\w-]+)/.exec(location.hash);
if (given !== null) {
  sessionStorage.setItem("token", given[1]);
  history.replaceState(null, "", location.pathname + location.hash.replace(/(^#|&)token=[\w-]+&?/, "$1").replace(/^#$/, ""));
}
let served = sessionStorage.getItem("token") !== null;

/** Whether a server answers what needs Python. */
export const isServed = () => served;

async function respond(path, body) {
  if (!served) throw new Error(NEEDS_PYTHON);
  const headers = { "X-Separatrix-Token": sessionStorage.getItem("token") };
  const options = body === undefined ? { headers } : { method: "POST", headers, body: JSON.stringify(body) };
  const response = await fetch(`/api/${path}`, options);
  if (!response.ok) throw new Error((await response.json().catch(() => ({}))).error ?? `the server answered ${response.status}`);
  return response;
}

/** The scenes of the list, the user's table and the learners on offer. */
export async function begin() {
  const scenes = file.map((scene) => ({ ...scene, points: scene.points.map(([x, y, label]) => ({ x, y, label })) }));
  const { own = null, table = null, learners = LEARNERS } = served ? await respond("start").then((found) => found.json()).catch(() => { served = false; return {}; }) : {};
  return { scenes: own === null ? scenes : [own, ...scenes], table, learners };
}

const HERE = {
  proof(scene) {
    if (!isPlain(scene)) return null;
    const proof = proofOf(scene);
    return served && proof.verdict !== "complete" && proof.mistakes === null ? null : proof;
  },
  fits(scene) {
    if (!canFit(scene)) return null;
    const answer = fitsOf(scene);
    return served && answer.fits.some(({ problem }) => problem !== null) ? null : answer; // the package has more to say
  },
};

/** Whether the page answers all that the plane shows of this scene. */
export const isQuick = isPlain;

/** The answer to one question: "proof", "fits" or "study". */
export async function ask(path, scene) {
  return HERE[path]?.(scene) ?? (await respond(path, scene)).json();
}

/** The run in parts: `start` gets what is known before the first look, `more` each part; both return false to read no further. */
export async function stream(scene, start, more) {
  if (isPlain(scene)) {
    const { columns, w, b, ...run } = runOf(scene);
    if (start({ columns, w: w[0], b: b[0] })) more({ ...run, w: w.slice(1), b: b.slice(1) });
    return;
  }
  const reader = (await respond("run/stream", scene)).body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "", first = true;
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const lines = (text + value).split("\n");
    text = lines.pop();
    for (const line of lines) {
      const wanted = (first ? start : more)(JSON.parse(line));
      first = false;
      if (!wanted) {
        await reader.cancel();
        return;
      }
    }
  }
}
