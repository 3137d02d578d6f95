/* Answers of the plane's modules to scenes on standard input (a JSON list), one JSON text a line: for test_plane_answers.py. */

import { readFileSync } from "node:fs";
import { runInThisContext } from "node:vm";

const [modules, checker] = process.argv.slice(2);
runInThisContext(readFileSync(checker, "utf8"));
const { exactRows, maximumMargin, mistakeBound, separability } = await import(`file://${modules}/separability.js`);
const { fewestMistakes } = await import(`file://${modules}/fewest.js`);
const { perceptron } = await import(`file://${modules}/perceptron.js`);
const { descend, lda, leastSquares, logistic } = await import(`file://${modules}/fits.js`);
const { certificates, checked, tableText } = await import(`file://${modules}/certificate.js`);

function answer({ rows, labels, bias, runs, fits, descents }) {
  const exact = exactRows(rows, labels, bias);
  const found = separability(exact), complete = found.verdict === "complete";
  const margin = complete ? maximumMargin(exact) : null;
  const bound = complete ? mistakeBound(exact, found.nearest) : null;
  const text = tableText(rows, labels, rows[0].map((_, j) => `x${j}`));
  const proof = checked(certificates(text, bias, found, margin, bound), text);
  const fewest = rows[0].length === 2 ? fewestMistakes(rows, labels, exact.vectors, bias) : null;
  return {
    verdict: found.verdict, witness: found.witness.map(({ row }) => row),
    margin: margin && { square: [String(margin.over), String(margin.under)], edges: margin.edges, line: margin.line, width: margin.width },
    bound: bound && { most: Number(bound.most), radius: bound.radius, margin: bound.margin },
    fewest: fewest?.count, right: fewest?.right, proof, csv: text,
    descents: descents.map((how) => { const { path, values, cut, diverged, limit } = descend(rows, labels, how); return { path, values, cut, diverged, limit }; }),
    runs: runs.map((choices) => (complete || !["restart", "worst"].includes(choices.order) ? perceptron(rows, labels, choices) : null)), // these never end
    fits: fits && { lda: lda(rows, labels), squares: leastSquares(rows, labels), ridge: logistic(rows, labels, { C: 1 }), logistic: logistic(rows, labels, { verdict: separability(exactRows(rows, labels, true)).verdict }) },
  };
}

for (const scene of JSON.parse(readFileSync(0, "utf8"))) console.log(JSON.stringify(answer(scene)));
