/* Questions to the server. The token comes in the fragment of the address that `separatrix lab` printed. */

const given = /(?:^#|&)token=([\w-]+)/.exec(location.hash);
if (given !== null) {
  sessionStorage.setItem("token", given[1]);
  history.replaceState(null, "", location.pathname + location.hash.replace(/(^#|&)token=[\w-]+&?/, "$1").replace(/^#$/, ""));
}

async function ask(path, body) {
  const headers = { "X-Separatrix-Token": sessionStorage.getItem("token") ?? "" };
  const options = body === undefined ? { headers } : { method: "POST", headers, body: JSON.stringify(body) };
  const response = await fetch(`/api/${path}`, options);
  const answer = await response.json();
  if (!response.ok) throw new Error(answer.error);
  return answer;
}

export const start = () => ask("start");
export const run = (scene) => ask("run", scene);
export const proof = (scene) => ask("proof", scene);
