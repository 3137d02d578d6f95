/* The button "Check this proof" of a report: runs the checker on the certificate and the rows in the page, or on a file
 * that the reader gives it, and says what was checked. All text from data is set as text, never as HTML. */
"use strict";

(() => {
  const data = JSON.parse(document.getElementById("proof-data").textContent);
  const result = document.getElementById("proof-result");
  const panel = document.getElementById("proof-panel");

  function element(name, text, className) {
    const made = document.createElement(name);
    if (text !== undefined) made.textContent = text;
    if (className !== undefined) made.className = className;
    return made;
  }

  function list(items) {
    const made = element("ul");
    for (const item of items) made.append(item instanceof Node ? item : element("li", item));
    return made;
  }

  /** Row numbers of the certified file as row numbers of the table that was audited. */
  function inTable(rows) {
    return data.of === null ? rows : rows.map((row) => data.of[row]);
  }

  function translated(rows) {
    if (data.of === null || rows.length === 0) return "";
    const most = 12;
    const more = rows.length > most ? ", …" : "";
    const own = rows.slice(0, most).join(", ") + more;
    return ` In ${data.file} these are rows ${own}; in the table, rows ${inTable(rows).slice(0, most).join(", ")}${more}.`;
  }

  /** Mark the rows in the picture: each group of rings has them in the order of `marks`. */
  function highlight(rows) {
    const wanted = new Set(inTable(rows));
    let marked = 0;
    for (const [kind, order] of Object.entries(data.marks)) {
      const rings = document.querySelectorAll(`#rows-${kind} use`);
      order.forEach((row, k) => {
        const ring = rings[k];
        if (ring === undefined) return;
        ring.classList.toggle("checked", wanted.has(row));
        if (!wanted.has(row)) return;
        marked += 1;
        const title = document.createElementNS("http://www.w3.org/2000/svg", "title");
        title.textContent = `row ${row}: checked`;
        ring.replaceChildren(title);
      });
    }
    return marked;
  }

  function show(proved, heading, parts) {
    result.className = proved ? "holds-box" : "fails-box";
    result.replaceChildren(element("p", `${proved ? "✓" : "✗"} ${heading}`, "verdict"), ...parts);
  }

  function inPicture(rows) {
    const marked = highlight(rows);
    if (marked === 0) return [];
    return [element("p", `${marked} ${marked === 1 ? "row" : "rows"} of the proof marked in the picture of answer 1.`)];
  }

  /** All claims, against the whole table. */
  function checkTable(text, name, whose) {
    const found = verify(data.certificate, text, name);
    if (found.code !== 0) {
      highlight([]);
      const why = found.lines[0].replace(/^(not proved|cannot read): /, "");
      const heading = found.code === 1 ? "Not proved" : "This cannot be checked";
      const meaning = found.code === 1
        ? `The certificate does not prove its claims about ${whose}: one of the two was changed, or they do not belong together.`
        : `${name} is not a table that the checker can read.`;
      show(false, `${heading}: ${why}.`, [element("p", meaning)]);
      return;
    }
    const claims = found.results.map(({ words, sentence, rows }) => {
      const item = element("li", `${words.charAt(0).toUpperCase()}${words.slice(1)}.${translated(rows)}`);
      const more = element("details");
      more.append(element("summary", "the whole sentence"), element("p", sentence));
      item.append(more);
      return item;
    });
    const count = claims.length === 1 ? "1 claim" : `${claims.length} claims`;
    const checked = [
      `The fingerprint of ${whose} (SHA-256) is the one in the certificate: the proof is about these ${found.rows} rows.`,
      "Columns, target, classes and the rows in use are those of the certificate.",
      "Every sum, sign and bound was computed in exact integers, or with a proved bound on the rounding error.",
    ];
    const left = data.claimsLeftOut;
    if (left > 0) checked.push(`Not checked here: ${left} more in certificate.json.`);
    const marks = inPicture([...new Set(found.results.flatMap((one) => one.rows))]);
    show(true, `Proved: ${count} about ${whose}, checked by your browser.`, [
      list(claims), ...marks, element("p", "What was checked:", "what"), list(checked),
    ]);
  }

  /** The rows that rule separation out, alone: what they prove is about these rows as printed. */
  function checkPrintedRows() {
    try {
      const content = readJson(data.certificate);
      const said = describedData(content);
      const table = readTable(data.rows, data.file, said.target, said.columns);
      const found = checkWitness(content, table, data.numbers);
      const rows = found.rows.length;
      const few = rows === 1 ? "This row, as printed, cannot be separated" : `These ${rows} rows, as printed, cannot be separated`;
      const printed = element("details");
      printed.append(element("summary", "the rows as printed"), element("pre", data.rows));
      show(true, `${few}: ${found.words}.`, [
        element("p", `With positive weights, the rows of both classes cancel exactly.${translated(found.rows)}`),
        ...inPicture(found.rows),
        element("p", `Not checked: that they are rows of ${data.file}, and the other claims. Give this page that file to check both.`),
        printed,
      ]);
    } catch (error) {
      highlight([]);
      if (!(error instanceof Rejected || error instanceof Unreadable)) throw error;
      show(false, `Not proved: ${error.message}.`, [
        element("p", "The certificate does not prove its claim about the rows in this page: one of the two was changed."),
      ]);
    }
  }

  /** Say that it works before it does, since a large proof takes seconds. */
  function run(work) {
    result.className = "";
    result.replaceChildren(element("p", "Checking…"));
    setTimeout(work, 30);
  }

  async function checkFile(file) {
    if (file === undefined) return;
    const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
    try {
      const text = decoder.decode(await file.arrayBuffer());
      run(() => checkTable(text, file.name, `the file ${file.name}`));
    } catch {
      highlight([]);
      show(false, `This cannot be checked: ${file.name} is not text in UTF-8.`, []);
    }
  }

  const button = document.getElementById("proof-check");
  if (button !== null) {
    const whole = () => checkTable(data.rows, data.file, "the rows in this page");
    button.addEventListener("click", () => run(data.kind === "whole" ? whole : checkPrintedRows));
  }
  document.getElementById("proof-file").addEventListener("change", (event) => checkFile(event.target.files[0]));
  panel.addEventListener("dragover", (event) => {
    event.preventDefault();
    panel.classList.add("over");
  });
  panel.addEventListener("dragleave", () => panel.classList.remove("over"));
  panel.addEventListener("drop", (event) => {
    event.preventDefault();
    panel.classList.remove("over");
    checkFile(event.dataTransfer.files[0]);
  });
})();
