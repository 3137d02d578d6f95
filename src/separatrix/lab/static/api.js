/* Questions to the server. The token comes in the fragment of the address that `separatrix lab` printed. */

const given = /(?:^#|&)token=([\w-]+)/.exec(location.hash);
if (given !== null) {
  sessionStorage.setItem("token", given[1]);
  history.replaceState(null, "", location.pathname + location.hash.replace(/(^#|&)token=[\w-]+&?/, "$1").replace(/^#$/, ""));
}

async function respond(path, body) {
  const headers = { "X-Separatrix-Token": sessionStorage.getItem("token") ?? "" };
  const options = body === undefined ? { headers } : { method: "POST", headers, body: JSON.stringify(body) };
  const response = await fetch(`/api/${path}`, options);
  if (!response.ok) throw new Error((await response.json().catch(() => ({}))).error ?? `the server answered ${response.status}`);
  return response;
}

/** The answer to one question: "start", "proof", "fits", "study", "descent". */
export async function ask(path, scene) {
  return (await respond(path, scene)).json();
}

/** The run in parts: `begin` gets the start, `more` each part; both return false to read no further. */
export async function stream(scene, begin, more) {
  const reader = (await respond("run/stream", scene)).body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "", first = true;
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const lines = (text + value).split("\n");
    text = lines.pop();
    for (const line of lines) {
      const wanted = (first ? begin : more)(JSON.parse(line));
      first = false;
      if (!wanted) {
        await reader.cancel();
        return;
      }
    }
  }
}
