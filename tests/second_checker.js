/* Answer what the second checker says: a line of JSON for each line of JSON. */
"use strict";

const path = require("node:path");
const checker = require(path.join(__dirname, "..", "src", "separatrix", "checker.js"));

function answer({ certificate, table, text, name, target, most }) {
  if (text !== undefined) {
    const { code, lines } = checker.verify(certificate, text, name, target);
    return { code, lines };
  }
  try {
    const rows = table?.rows.map(([label, columns, values, whole]) => ({
      label, columns, values, whole: whole?.map(BigInt),
    }));
    const found = checker.check(checker.readJson(certificate), table ? { ...table, rows } : null, most);
    return { code: 0, lines: found.map(({ sentence }) => sentence) };
  } catch (error) {
    if (error instanceof checker.Rejected) return { code: 1, lines: [error.message] };
    return { code: 2, lines: [String(error.stack)] };
  }
}

const lines = require("node:readline").createInterface({ input: process.stdin });
lines.on("line", (line) => process.stdout.write(`${JSON.stringify(answer(JSON.parse(line)))}\n`));
