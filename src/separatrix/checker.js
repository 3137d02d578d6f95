/* Check a certificate against the table that it is about, in exact arithmetic.
 *
 *     node checker.js certificate.json table.csv [--target NAME]
 *     node checker.js certificate.json               (one that carries its rows)
 *
 * This file needs nothing but a JavaScript engine: copy it anywhere, or load it in a page. It is a second checker, written
 * from the lemmas [L1] to [L20] of docs/certificates.md and its rules on scope [S] and cost [C], not from checker.py. A
 * mark stands beside the line that checks a hypothesis of that lemma. Both print the same sentence for what is proved.
 *
 * Output and exit codes: "proved: ..." and 0; "not proved: ...", with the first thing that is wrong, and 1; or, on
 * standard error, what could not be read or written, and 2.
 *
 * Notation: row i of the table is x_i. Between two groups of classes z_i = y_i (x_i, 1), y_i = +1 or -1, without the 1
 * where there is no intercept. In Kesler's construction [L14] a row of class c gives for each other class k a row z with
 * (x_i, 1) in block c and -(x_i, 1) in block k; the last class has no block. p is the length of z.
 */
"use strict";

const FORMAT = "separability-certificate/3";
const MOST_PLACES = 1100; // digits of a decimal, and its largest exponent
const MOST_WORDS = 128; // of 64 bits, of a decimal times a power of ten
const INDEX_ONLY = 40; // a witness of more rows must carry its weights
const MOST_WORK = 2 ** 34; // steps of some nanoseconds
const MOST_TEXT = 2 ** 27; // characters of a file
const HELD = 128; // steps of a word of 64 bits that is kept
const MOST_COLUMNS = 2 ** 31;
const MOST_NESTING = 200; // objects and lists inside each other
const MOST_DIGITS = 4300; // of an integer in JSON
const MOST_LETTERS = 131072; // of a cell
const MOST_BITS = 4096; // of the integers of a short circulation, and the largest exponent [C5]
const EXACT = 2 ** 53; // integers below it, and sums and products of them below it, are exact as doubles
const PRIMES = [67108859, 67108837, 67108819]; // below 2^26: a product of two remainders is exact in a double [L5]

/** The certificate does not prove its claim. */
class Rejected extends Error {}

/** A file is not a certificate, or not a table of numbers. */
class Unreadable extends Error {}

function need(condition, why) {
  if (!condition) throw new Rejected(why);
}

// ---- JSON: an integer becomes a BigInt, any other number a Number, an object a Map ----------------------------------

function readJson(text) {
  let at = 0;
  const escapes = { '"': '"', "\\": "\\", "/": "/", b: "\b", f: "\f", n: "\n", r: "\r", t: "\t" };
  const numberAt = /-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?/y;
  const wordAt = /true|false|null/y;

  function fail(what) {
    throw new Unreadable(`${what} at character ${at}`);
  }

  function skipSpace() {
    while (at < text.length && " \t\n\r".includes(text[at])) at += 1;
  }

  function string() {
    let made = "";
    at += 1;
    for (;;) {
      const start = at;
      while (at < text.length && text[at] !== '"' && text[at] !== "\\" && text[at] >= " ") at += 1;
      made += text.slice(start, at);
      if (text[at] === '"') {
        at += 1;
        return made;
      }
      if (text[at] !== "\\") fail("a text is not closed or holds a control character");
      const escape = text[at + 1];
      const hex = text.slice(at + 2, at + 6);
      if (escape === "u" && /^[0-9a-fA-F]{4}$/.test(hex)) {
        made += String.fromCharCode(parseInt(hex, 16));
        at += 6;
      } else if (escape !== undefined && Object.hasOwn(escapes, escape)) {
        made += escapes[escape];
        at += 2;
      } else {
        fail("an unknown escape");
      }
    }
  }

  function number() {
    numberAt.lastIndex = at;
    const found = numberAt.exec(text);
    if (found === null) fail("something that is not JSON");
    at = numberAt.lastIndex;
    if (found[1] !== undefined || found[2] !== undefined) return Number(found[0]);
    if (found[0].replace("-", "").length > MOST_DIGITS) fail("an integer of too many digits");
    return BigInt(found[0]);
  }

  function word() {
    wordAt.lastIndex = at;
    const found = wordAt.exec(text);
    if (found === null) return number();
    at = wordAt.lastIndex;
    return { true: true, false: false, null: null }[found[0]];
  }

  function list(depth) {
    const made = [];
    at += 1;
    skipSpace();
    if (text[at] === "]") {
      at += 1;
      return made;
    }
    for (;;) {
      made.push(value(depth));
      if (text[at] === "]") break;
      if (text[at] !== ",") fail("a list without its end");
      at += 1;
    }
    at += 1;
    return made;
  }

  function object(depth) {
    const made = new Map();
    at += 1;
    skipSpace();
    if (text[at] === "}") {
      at += 1;
      return made;
    }
    for (;;) {
      skipSpace();
      if (text[at] !== '"') fail("an object whose name is not text");
      const name = string();
      if (made.has(name)) fail("a name occurs twice in one object");
      skipSpace();
      if (text[at] !== ":") fail("a name without a value");
      at += 1;
      made.set(name, value(depth));
      if (text[at] === "}") break;
      if (text[at] !== ",") fail("an object without its end");
      at += 1;
    }
    at += 1;
    return made;
  }

  /** The value here and the space around it. */
  function value(depth) {
    skipSpace();
    const first = text[at];
    if ((first === "{" || first === "[") && depth >= MOST_NESTING) fail("nested too deeply for a certificate"); // [C4]
    const made =
      first === "{" ? object(depth + 1) : first === "[" ? list(depth + 1) : first === '"' ? string() : word();
    skipSpace();
    return made;
  }

  const whole = value(0);
  if (at < text.length) fail("more than one value");
  return whole;
}

function isInteger(value) {
  return typeof value === "bigint";
}

/** A field that must be there. */
function field(object, name) {
  need(object instanceof Map && object.has(name), `malformed: ${name} is missing`);
  return object.get(name);
}

/** A field that may be missing or null. */
function optional(object, name) {
  return object.get(name) ?? null;
}

function sameJson(a, b) {
  if (Array.isArray(a) && Array.isArray(b)) return a.length === b.length && a.every((v, k) => sameJson(v, b[k]));
  if (a instanceof Map && b instanceof Map) {
    return a.size === b.size && [...a].every(([name, v]) => b.has(name) && sameJson(v, b.get(name)));
  }
  return a === b;
}

// ---- Text: decimals, quoted names, order ------------------------------------------------------------------------------

const SPACE = "[\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]";
const SPACES = new RegExp(`${SPACE}+`, "u");
const OUTER_SPACE = new RegExp(`^${SPACE}+|${SPACE}+$`, "gu");
const DECIMAL = /^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$/;
const OUTER_ASCII_SPACE = /^[\t-\r ]+|[\t-\r ]+$/g;

/** The digits and the exponent of the shortest decimal that reads as this double: |value| = 0.d1d2d3... * 10^exponent. */
function shortestDecimal(value) {
  const [mantissa, power] = Math.abs(value).toExponential().split("e");
  return { digits: mantissa.replace(".", ""), exponent: Number(power) + 1 };
}

/** The name of a class: "+1", "1" and "1.0" are the same one. */
function className(text) {
  const name = text.replace(OUTER_SPACE, "");
  if (!DECIMAL.test(name)) return name;
  const value = Number(name);
  if (!(Math.abs(value) < 2 ** 53)) {
    throw new Unreadable(`the label ${name.slice(0, 40)} is not below 2^53, where different numbers read as one: use text`);
  }
  if (value === 0) return "0";
  const { digits, exponent } = shortestDecimal(value);
  const sign = value < 0 ? "-" : "";
  if (exponent < -3) {
    const rest = digits.length > 1 ? `.${digits.slice(1)}` : "";
    return `${sign}${digits[0]}${rest}e-${String(1 - exponent).padStart(2, "0")}`;
  }
  if (exponent <= 0) return `${sign}0.${"0".repeat(-exponent)}${digits}`;
  if (digits.length <= exponent) return sign + digits.padEnd(exponent, "0");
  return `${sign}${digits.slice(0, exponent)}.${digits.slice(exponent)}`;
}

function finiteNumber(text) {
  const inner = text.replace(OUTER_ASCII_SPACE, "");
  const value = DECIMAL.test(inner) ? Number(inner) : NaN;
  if (!Number.isFinite(value)) throw new Unreadable(`${quoted(text.slice(0, 40))} is not a finite number`);
  return value;
}

/** Text in quotation marks, with everything escaped that could steer a terminal. */
function quoted(text) {
  const mark = text.includes("'") && !text.includes('"') ? '"' : "'";
  let made = "";
  for (const letter of text) {
    const code = letter.codePointAt(0);
    const hex = code.toString(16);
    if (letter === mark || letter === "\\") made += `\\${letter}`;
    else if (letter === "\n") made += "\\n";
    else if (letter === "\r") made += "\\r";
    else if (letter === "\t") made += "\\t";
    else if (letter === " " || !/[\p{C}\p{Z}]/u.test(letter)) made += letter;
    else if (code < 0x100) made += `\\x${hex.padStart(2, "0")}`;
    else if (code < 0x10000) made += `\\u${hex.padStart(4, "0")}`;
    else made += `\\U${hex.padStart(8, "0")}`;
  }
  return mark + made + mark;
}

/** A name or value from a file, not at full length. */
function shown(value) {
  const text = typeof value === "string" ? quoted(value) : value === null ? "None" : String(value);
  const letters = [...text];
  return letters.length <= 60 ? text : `${letters.slice(0, 57).join("")}...`;
}

function listed(names, most = 12) {
  const more = names.length > most ? ` and ${names.length - most} more` : "";
  return names.slice(0, most).map(shown).join(", ") + more;
}

function plural(n, what) {
  return n === 1 ? `1 ${what}` : `${n} ${what}s`;
}

/** By code points, not by the halves of UTF-16. */
function byLetters(a, b) {
  const left = [...a], right = [...b];
  for (let k = 0; k < left.length && k < right.length; k += 1) {
    if (left[k] !== right[k]) return left[k].codePointAt(0) - right[k].codePointAt(0);
  }
  return left.length - right.length;
}

function distinctNames(value, what) {
  need(Array.isArray(value) && value.length > 0, `the list of ${what} is missing or empty`);
  need(value.every((name) => typeof name === "string"), `one of the ${what} is not text`);
  need(new Set(value).size === value.length, `one of the ${what} is named twice`);
  return value;
}

// ---- Tables: {rows: [{label, columns, values, whole}], scales, d, columns, target, name, unused} ------------------------
// A row has its non-zeros, by ascending column. In the decimal reading `whole` are the same cells as BigInts, times ten to
// the power that `scales` has for their columns; otherwise `scales` is null.

function readTable(text, name, target, columns, reading = "binary64") {
  const inner = text.replace(/^\ufeff/, ""); // a byte order mark
  const exact = reading === "decimal";
  const svmlight = /\.(svm|svmlight|libsvm)$/.test(name);
  const table = svmlight ? readSvmlight(inner, name, exact) : readCsv(inner, name, target, columns, exact);
  table.scales = null;
  if (exact) {
    const scales = new Array(table.d).fill(0);
    for (const { columns: at, decimals } of table.rows) {
      decimals.forEach(({ places }, k) => { scales[at[k]] = Math.max(scales[at[k]], places); });
    }
    for (const row of table.rows) row.whole = wholeCells(row, scales);
    table.scales = scales;
  }
  return table;
}

/** Decimals times the powers of ten of their columns. */
function wholeCells({ columns, decimals }, scales) {
  return decimals.map(({ digits, places }, k) => digits * 10n ** BigInt(scales[columns[k]] - places));
}

/** A decimal as an integer, no multiple of ten, times ten to the power -places. */
function decimalCell(text) {
  const [mantissa, power = "0"] = text.replace(OUTER_ASCII_SPACE, "").toLowerCase().split("e");
  const [before, fraction = ""] = mantissa.split(".");
  if (mantissa.length > MOST_PLACES || power.length > 5 || Math.abs(Number(power)) > MOST_PLACES) {
    throw new Unreadable(`${quoted(text.slice(0, 40))} has more than ${MOST_PLACES} digits`);
  }
  const sign = before.startsWith("-") ? -1n : 1n;
  const all = (before + fraction).replace(/^[+-]/, "");
  const kept = all.replace(/0+$/, "");
  return { digits: sign * BigInt(kept), places: fraction.length - Number(power) - (all.length - kept.length) };
}

/** Take a cell into a row, unless it is zero. */
function takeCell(row, column, text, exact) {
  const value = finiteNumber(text);
  if (exact) {
    const decimal = decimalCell(text);
    if (decimal.digits === 0n) return;
    row.decimals.push(decimal);
  } else if (value === 0) {
    return;
  }
  row.columns.push(column);
  row.values.push(value);
}

function readSvmlight(text, name, exact) {
  const rows = [];
  let d = 0;
  text.split(/\r\n|\r|\n/).forEach((line, k) => {
    const words = line.split("#")[0].split(SPACES).filter((word) => word !== "");
    if (words.length === 0) return;
    try {
      const row = { label: "", columns: [], values: [], decimals: [] };
      let before = 0;
      for (const word of words.slice(1)) {
        const parts = word.split(":");
        if (parts.length !== 2 || !/^[0-9]+$/.test(parts[0])) throw new Unreadable("it is not 'label index:value ...'");
        const column = Number(parts[0]);
        if (!(before < column)) throw new Unreadable("the columns do not ascend from 1");
        if (column > MOST_COLUMNS) throw new Unreadable(`there are more than ${MOST_COLUMNS} columns`);
        before = column;
        takeCell(row, column - 1, parts[1], exact);
      }
      row.label = className(words[0]);
      rows.push(row);
      d = Math.max(d, before);
    } catch (error) {
      throw located(error, `${name} line ${k + 1}`);
    }
  });
  return { rows, d, columns: null, target: null, name, unused: [] };
}

function located(error, where) {
  return error instanceof Unreadable ? new Unreadable(`${where}: ${error.message}`) : error;
}

/** The records of comma-separated text (RFC 4180), each with the number of its last line; empty lines give none. */
function* csvRecords(text) {
  let at = 0, line = 0;
  while (at < text.length) {
    let end = at;
    let special = false;
    for (; end < text.length; end += 1) {
      const code = text.charCodeAt(end);
      if (code === 10 || code === 13) break;
      if (code === 34) special = true;
    }
    line += 1;
    let cells = [];
    if (!special) {
      if (end > at) cells = text.slice(at, end).split(",");
      at = end + (text.startsWith("\r\n", end) ? 2 : 1);
    } else {
      // States: 0 at the start of a cell, 1 in a plain one, 2 in a quoted one, 3 after a quotation mark in a quoted one.
      let state = 0, cell = "";
      for (;;) {
        const letter = text[at];
        const ends = letter === undefined || letter === "\n" || letter === "\r";
        if (ends && (state !== 2 || letter === undefined)) {
          cells.push(cell);
          at += text.startsWith("\r\n", at) ? 2 : 1;
          break;
        }
        if (state === 2) {
          if (letter === '"') state = 3;
          else cell += letter;
          if (letter === "\n" || (letter === "\r" && text[at + 1] !== "\n")) line += 1;
        } else if (state === 3 && letter === '"') {
          cell += letter;
          state = 2;
        } else if (letter === ",") {
          cells.push(cell);
          cell = "";
          state = 0;
        } else if (state === 0 && letter === '"') {
          state = 2;
        } else {
          cell += letter;
          state = 1;
        }
        at += 1;
      }
    }
    if (cells.some((cell) => cell.length > MOST_LETTERS)) throw new Unreadable(`line ${line}: a cell is too long`);
    if (cells.length > 0) yield { cells, line };
  }
}

function readCsv(text, name, target, columns, exact) {
  const records = csvRecords(text);
  const first = records.next();
  const header = first.done ? [] : first.value.cells;
  const place = new Map(header.map((column, k) => [column, k]));
  if (place.size < header.length) throw new Unreadable(`${name}: a column name occurs twice in the header`);
  if (target === null) throw new Unreadable(`${name}: the certificate does not name the target: use --target`);
  const used = columns ?? header.filter((column) => column !== target);
  for (const column of [target, ...used]) {
    if (!place.has(column)) throw new Unreadable(`${name} has no column ${shown(column)}`);
  }
  const chosen = used.map((column) => place.get(column));
  const label = place.get(target);
  const rows = [];
  for (const { cells, line } of records) {
    try {
      if (cells.length !== header.length) {
        throw new Unreadable(`it has ${cells.length} cells, the header ${header.length}`);
      }
      const row = { label: "", columns: [], values: [], decimals: [] };
      chosen.forEach((k, j) => takeCell(row, j, cells[k], exact));
      row.label = className(cells[label]);
      rows.push(row);
    } catch (error) {
      throw located(error, `${name} line ${line}`);
    }
  }
  const known = new Set([target, ...used]);
  const unused = header.filter((column) => !known.has(column));
  return { rows, d: used.length, columns: used, target, name, unused };
}

// ---- SHA-256 (FIPS 180-4) and the fingerprint --------------------------------------------------------------------------

/** Fractional parts of the roots (square or cube) of the first primes, 32 bits each, computed in integers. */
function rootBits(count, degree) {
  const made = [];
  for (let prime = 2; made.length < count; prime += 1) {
    let divisor = 2;
    while (divisor * divisor <= prime && prime % divisor !== 0) divisor += 1;
    if (divisor * divisor <= prime) continue;
    const target = BigInt(prime) << BigInt(32 * degree);
    let low = 0n, high = 1n << 40n; // low^degree <= target < high^degree
    while (high - low > 1n) {
      const middle = (low + high) >> 1n;
      if (middle ** BigInt(degree) <= target) low = middle;
      else high = middle;
    }
    made.push(Number(BigInt.asUintN(32, low)) | 0);
  }
  return made;
}

const SHA_START = rootBits(8, 2);
const SHA_ROUNDS = Int32Array.from(rootBits(64, 3));

/** The digest of some bytes. */
function sha256(bytes) {
  const padded = new Uint8Array(64 * Math.ceil((bytes.length + 9) / 64));
  padded.set(bytes);
  padded[bytes.length] = 0x80;
  const view = new DataView(padded.buffer), w = new Int32Array(64), state = Int32Array.from(SHA_START);
  view.setUint32(padded.length - 8, Math.floor(bytes.length / 2 ** 29));
  view.setUint32(padded.length - 4, (bytes.length * 8) % 2 ** 32);
  for (let start = 0; start < padded.length; start += 64) {
    for (let t = 0; t < 16; t += 1) w[t] = view.getInt32(start + 4 * t);
    for (let t = 16; t < 64; t += 1) {
      const a = w[t - 15], b = w[t - 2];
      const s0 = ((a >>> 7) | (a << 25)) ^ ((a >>> 18) | (a << 14)) ^ (a >>> 3);
      const s1 = ((b >>> 17) | (b << 15)) ^ ((b >>> 19) | (b << 13)) ^ (b >>> 10);
      w[t] = (w[t - 16] + s0 + w[t - 7] + s1) | 0;
    }
    let a = state[0], b = state[1], c = state[2], d = state[3], e = state[4], f = state[5], g = state[6], h = state[7];
    for (let t = 0; t < 64; t += 1) {
      const s1 = ((e >>> 6) | (e << 26)) ^ ((e >>> 11) | (e << 21)) ^ ((e >>> 25) | (e << 7));
      const first = (h + s1 + ((e & f) ^ (~e & g)) + SHA_ROUNDS[t] + w[t]) | 0;
      const s0 = ((a >>> 2) | (a << 30)) ^ ((a >>> 13) | (a << 19)) ^ ((a >>> 22) | (a << 10));
      const second = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
      h = g; g = f; f = e; e = (d + first) | 0;
      d = c; c = b; b = a; a = (first + second) | 0;
    }
    [a, b, c, d, e, f, g, h].forEach((value, k) => { state[k] = (state[k] + value) | 0; });
  }
  const out = new DataView(new ArrayBuffer(32));
  state.forEach((value, k) => out.setInt32(4 * k, value));
  return new Uint8Array(out.buffer);
}

function hexOf(bytes) {
  return [...bytes].map((value) => value.toString(16).padStart(2, "0")).join("");
}

function sha256OfText(text) {
  return hexOf(sha256(new TextEncoder().encode(text)));
}

// ---- Fingerprints: a tree of hashes over the rows [S4] -----------------------------------------------------------------

/** How many rows a leaf has: a power of two, 8 where they are short. */
function rowsOfLeaf(d) {
  return Math.max(1, Math.min(8, 256 >> Math.min(31, 32 - Math.clz32(d + 1))));
}

/** Bytes that are written one after the other, all integers little-endian. */
class Written {
  constructor() {
    this.bytes = new Uint8Array(4096);
    this.view = new DataView(this.bytes.buffer);
    this.length = 0;
  }

  room(more) {
    if (this.length + more <= this.bytes.length) return;
    const longer = new Uint8Array(2 * (this.length + more));
    longer.set(this.bytes);
    this.bytes = longer;
    this.view = new DataView(longer.buffer);
  }

  /** An unsigned integer of 64 bits. */
  integer(value) {
    this.room(8);
    this.view.setUint32(this.length, value % 2 ** 32, true);
    this.view.setUint32(this.length + 4, Math.floor(value / 2 ** 32), true);
    this.length += 8;
  }

  float(value) {
    this.room(8);
    this.view.setFloat64(this.length, value, true);
    this.length += 8;
  }

  /** A BigInt in so many words of 64 bits, in two's complement. */
  whole(value, words) {
    this.room(8 * words);
    for (let k = 0; k < words; k += 1) {
      this.view.setBigUint64(this.length, BigInt.asUintN(64, value >> BigInt(64 * k)), true);
      this.length += 8;
    }
  }

  hash() {
    return sha256(this.bytes.subarray(0, this.length));
  }
}

/** The class, the number of non-zeros k, and the cells: all of them if 2k >= d, else the non-zeros by column. */
function writeRow(out, row, number, d, decimals) {
  const { columns, values, whole } = row, k = columns.length;
  out.integer(number);
  out.integer(k);
  const cell = (j, at) => {
    if (decimals === null) out.float(at < 0 ? 0 : values[at]);
    else out.whole(at < 0 ? 0n : whole[at], decimals[j][1]);
  };
  if (2 * k < d) {
    for (let at = 0; at < k; at += 1) {
      out.integer(columns[at]);
      cell(columns[at], at);
    }
    return;
  }
  for (let j = 0, at = 0; j < d; j += 1) {
    if (at < k && columns[at] === j) {
      cell(j, at);
      at += 1;
    } else {
      cell(j, -1);
    }
  }
}

/** The hash of a leaf with these rows. */
function leafHash(leaf, rows, numbers, d, decimals) {
  const out = new Written();
  out.integer(leaf);
  for (const row of rows) writeRow(out, row, numbers.get(row.label), d, decimals);
  return out.hash();
}

/** The node number k of a level, above two nodes. */
function nodeHash(level, k, left, right) {
  const bytes = new Uint8Array(72), view = new DataView(bytes.buffer);
  view.setUint32(0, k % 2 ** 32, true);
  view.setUint32(4, Math.floor(k / 2 ** 32) + level * 2 ** 24, true);
  bytes.set(left, 8);
  bytes.set(right, 40);
  return sha256(bytes);
}

/** The top of the tree over all rows; a node without a neighbour goes up as it is. */
function topOfRows(rows, numbers, d, decimals) {
  const each = rowsOfLeaf(d);
  let nodes = [];
  for (let start = 0; start < rows.length; start += each) {
    nodes.push(leafHash(start / each, rows.slice(start, start + each), numbers, d, decimals));
  }
  for (let level = 1; nodes.length > 1; level += 1) {
    const above = [];
    for (let k = 0; k < nodes.length; k += 2) {
      above.push(k + 1 < nodes.length ? nodeHash(level, k / 2, nodes[k], nodes[k + 1]) : nodes[k]);
    }
    nodes = above;
  }
  return nodes[0];
}

/** A value as JSON in ASCII, without spaces. */
function asciiJson(value) {
  if (value === null || value === undefined) return "null";
  if (isInteger(value)) return String(value);
  if (Array.isArray(value)) return `[${value.map(asciiJson).join(",")}]`;
  return JSON.stringify(value).replace(/[\u007f-\uffff]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** The description of the table and the top of the tree of its rows, hashed together [S4]. */
function fingerprint(told, top) {
  const names = ["n", "d", "columns", "target", "classes", "reading", "exponents", "decimals"];
  const head = sha256(new TextEncoder().encode(asciiJson(names.map((name) => optional(told, name)))));
  return hexOf(nodeHash(255, 0, head, top));
}

/** The binary exponents of the smallest and the largest non-zero and of 1. */
function spreadOf(rows) {
  let least = 1, most = 1;
  for (const row of rows) {
    for (const value of row.values) {
      if (value === 0) continue; // of a decimal that underflows
      const { exponent } = dissected(value);
      least = Math.min(least, exponent);
      most = Math.max(most, exponent);
    }
  }
  return [BigInt(least), BigInt(most)];
}

/** For each column of decimals its places, and the words of 64 bits that hold its integers. */
function decimalsOf(table) {
  if (table.scales === null) return null;
  const longest = new Array(table.d).fill(0);
  for (const { columns, whole } of table.rows) {
    whole.forEach((v, k) => { longest[columns[k]] = Math.max(longest[columns[k]], bitLength(v)); });
  }
  return table.scales.map((places, j) => [BigInt(places), BigInt(Math.floor(longest[j] / 64) + 1)]);
}

/** The rows that a certificate carries, all of them under its fingerprint, as a table without the others [S6]. */
function carriedRows(content) {
  const told = field(content, "data"), given = field(content, "rows"), path = field(content, "path");
  const size = (name, most) => {
    const value = field(told, name);
    need(isInteger(value) && 0n < value && value <= BigInt(most), "the size of the table is impossible");
    return Number(value);
  };
  const n = size("n", 2 ** 48 - 1), d = size("d", MOST_COLUMNS);
  const classes = distinctNames(field(told, "classes"), "classes");
  const exact = field(told, "reading") === "decimal", each = rowsOfLeaf(d), count = Math.ceil(n / each);
  need(given instanceof Map && given.size > 0, "it carries no rows");
  const hashes = Array.isArray(path) && path.every((text) => typeof text === "string" && /^[0-9a-f]{64}$/.test(text));
  need(hashes, "a hash is malformed");
  let scales = null, words = null;
  if (exact) {
    const pairs = field(told, "decimals");
    const pair = (v) => Array.isArray(v) && v.length === 2 && v.every(isInteger);
    need(Array.isArray(pairs) && pairs.length === d && pairs.every(pair), "the places of the decimals are missing");
    words = pairs.map((v) => v.map(Number));
    const possible = words.every(([k, w]) => 0 <= k && k <= 2 * MOST_PLACES && 1 <= w && w <= MOST_WORDS);
    need(possible, "the places are impossible");
    scales = words.map(([k]) => k);
  }
  const isNumber = (text) => /^(0|[1-9][0-9]{0,18})$/.test(text);
  need([...given.keys()].every(isNumber), "a leaf does not exist");
  const numbers = new Map(classes.map((name, k) => [name, k])), at = new Map(), rows = [];
  const opened = [...given].map(([text, leaf]) => [Number(text), leaf]).sort((a, b) => a[0] - b[0]);
  need(opened.at(-1)[0] < count, "a leaf does not exist");
  let nodes = new Map();
  for (const [leaf, listed] of opened) {
    need(Array.isArray(listed) && listed.length === Math.min(each, n - leaf * each), "a leaf lacks rows, or has too many");
    const own = listed.map((entry) => {
      need(Array.isArray(entry) && entry.length === 2, "a row is not a class with its cells");
      const [code, cells] = entry;
      need(isInteger(code) && 0n <= code && code < BigInt(classes.length), "the class of a row does not exist");
      const row = { label: classes[Number(code)], columns: [], values: [], decimals: [] };
      const pairs = cells instanceof Map ? [...cells] : Array.isArray(cells) ? cells.map((v, j) => [String(j), v]) : null;
      need(pairs !== null && (cells instanceof Map || pairs.length === d), "a row lacks cells, or has too many");
      let before = -1;
      for (const [text, cell] of pairs) {
        need(isNumber(text), "a column is not a number");
        need(before < Number(text) && Number(text) < d, "the columns of a row do not ascend");
        before = Number(text);
        need(typeof cell === "string" && DECIMAL.test(cell), "a cell is not a number");
        takeCell(row, before, cell, exact);
      }
      if (exact) {
        need(row.decimals.every(({ places }, k) => places <= scales[row.columns[k]]), "a decimal has more places than its column");
        row.whole = wholeCells(row, scales);
        const fits = row.whole.every((v, k) => bitLength(v) < 64 * words[row.columns[k]][1]);
        need(fits, "a decimal is longer than its column");
      }
      return row;
    });
    own.forEach((row, k) => {
      at.set(leaf * each + k, rows.length);
      rows.push(row);
    });
    nodes.set(leaf, leafHash(leaf, own, numbers, d, words));
  }
  const told256 = field(told, "sha256");
  need(told256 === fingerprint(told, topOfPaths(nodes, count, path)), "the rows are not those of the table with its fingerprint");
  return { rows, at, n, d, scales, labels: classes, columns: optional(told, "columns"), target: optional(told, "target"), name: "", unused: [] };
}

/** The top of a tree of so many leaves, from some of them and the hashes beside their ways up [S6]. */
function topOfPaths(leaves, count, path) {
  let nodes = leaves, used = 0, size = count;
  for (let level = 1; size > 1; level += 1) {
    const above = new Map();
    for (const k of [...nodes.keys()].sort((a, b) => a - b)) {
      const parent = Math.floor(k / 2), right = 2 * parent + 1;
      if (above.has(parent)) continue;
      if (right === size) {
        above.set(parent, nodes.get(k)); // without a neighbour
        continue;
      }
      const [a, b] = [2 * parent, right].map((side) => {
        if (nodes.has(side)) return nodes.get(side);
        need(used < path.length, "a hash is missing");
        used += 1;
        return Uint8Array.from(path[used - 1].match(/../g), (byte) => parseInt(byte, 16));
      });
      above.set(parent, nodeHash(level, parent, a, b));
    }
    nodes = above;
    size = Math.ceil(size / 2);
  }
  need(used === path.length, "there are more hashes than needed");
  return nodes.get(0);
}

// ---- Integers --------------------------------------------------------------------------------------------------------

function magnitude(value) {
  return value < 0n ? -value : value;
}

function bitLength(value) {
  const size = magnitude(value);
  if (size === 0n) return 0;
  const hex = size.toString(16);
  return 4 * (hex.length - 1) + 32 - Math.clz32(parseInt(hex[0], 16));
}

function longestOf(values) {
  return values.reduce((most, value) => Math.max(most, bitLength(value)), 0);
}

function greatestCommonDivisor(a, b) {
  while (b !== 0n) [a, b] = [b, a % b];
  return a;
}

function powerOfTwo(exponent) {
  const view = new DataView(new ArrayBuffer(8));
  view.setUint32(0, (exponent + 1023) << 20);
  return view.getFloat64(0);
}

/** The double nearest to over/under, under > 0; zero where it would be below 2^-900. */
function nearestQuotient(over, under) {
  if (over === 0n) return 0;
  const shift = 66 - (bitLength(over) - bitLength(under));
  if (shift > 900) return 0;
  const top = shift > 0 ? magnitude(over) << BigInt(shift) : magnitude(over);
  const bottom = shift > 0 ? under : under << BigInt(-shift);
  let quotient = top / bottom; // 66 or 67 bits
  if (quotient * bottom !== top) quotient |= 1n; // a last bit that says on which side of a tie it lies
  const size = Number(quotient) * powerOfTwo(-shift);
  return over < 0n ? -size : size;
}

const doubleView = new DataView(new ArrayBuffer(8));

/** The e of |value| = f * 2^e with 1/2 <= f < 1, and the double as an integer times 2^power. */
function dissected(value) {
  doubleView.setFloat64(0, value);
  const high = doubleView.getUint32(0);
  const field = (high >>> 20) & 0x7ff;
  const mantissa = (high & 0xfffff) * 2 ** 32 + doubleView.getUint32(4);
  const whole = field === 0 ? mantissa : mantissa + 2 ** 52;
  const power = field === 0 ? -1074 : field - 1075;
  const top = Math.floor(whole / 2 ** 32);
  const bits = top > 0 ? 64 - Math.clz32(top) : 32 - Math.clz32(whole);
  return { whole: high >>> 31 ? -whole : whole, power, exponent: power + bits };
}

// ---- Cost [C] --------------------------------------------------------------------------------------------------------

/** Work allowed for one file; it is counted before it is done. */
class Meter {
  constructor(most = MOST_WORK) {
    this.most = most;
    this.left = most;
  }

  /** Count products of numbers of so many bits. */
  charge(operations, bits = 0, by = 0) {
    this.left -= operations * (32 + (Math.floor(bits / 64) + 1) * (Math.floor(by / 64) + 1));
    need(this.left >= 0, `checking it would take more than ${this.most} steps`);
  }

  /** Count operations on doubles. */
  spend(operations) {
    this.left -= operations;
    need(this.left >= 0, `checking it would take more than ${this.most} steps`);
  }

  /** Count the words of numbers that are kept. */
  hold(bits) {
    this.left -= HELD * Math.floor(bits / 64);
  }
}

// ---- Scope: what a claim is about [S] ----------------------------------------------------------------------------------

/** The table, as the certificate describes it: columns, target, rows dropped, and all classes. */
class Scope {
  constructor(told, table) {
    need(told instanceof Map, "it does not say what it is about");
    const d = field(told, "d");
    need(isInteger(d) && d >= 1n, "the number of columns is not a positive integer"); // [S1]
    need(d === BigInt(table.d), `it is about ${d} columns, and the table has ${table.d}`); // [S1]
    Object.assign(this, { told, table, columns: table.columns, target: table.target });
    const columns = field(told, "columns");
    if (columns !== null) {
      this.columns = distinctNames(columns, "columns");
      need(columns.length === table.d, `it names ${columns.length} columns of ${d}`); // [S1]
      const same = table.columns === null || sameJson(table.columns, columns);
      need(same, "it is about other data: the columns differ"); // [S1]
    }
    const target = optional(told, "target");
    if (target !== null) {
      need(typeof target === "string", "the target is not a name");
      const same = table.target === null || table.target === target; // [S2]
      need(same, `it is about the target ${shown(target)}, not ${shown(table.target)}`);
      this.target = target;
    }
    need(this.target === null || !(this.columns ?? []).includes(this.target), "the target is one of the columns"); // [S2]
    const reading = field(told, "reading"), n = field(told, "n");
    need(reading === "binary64" || reading === "decimal", "the reading of numbers is neither binary64 nor decimal");
    this.decimal = reading === "decimal";
    need(this.decimal === (table.scales !== null), "the table was read in the other reading of numbers");
    this.complete = table.at === undefined;
    const same = isInteger(n) && (!this.complete || n === BigInt(table.rows.length));
    need(same, `it is about other data: ${shown(n)} rows, not ${table.rows.length}`);
    this.n = Number(n);
    const dropped = field(told, "dropped");
    need(Array.isArray(dropped) && dropped.every(isInteger), "the rows dropped are not a list of rows");
    need(new Set(dropped).size === dropped.length, "a row is repeated among those dropped"); // [S3]
    const exist = dropped.every((i) => 0n <= i && i < n);
    need(exist, "a row that is dropped does not exist"); // [S3]
    this.dropped = new Set(dropped.map(Number));
    this.classes = distinctNames(field(told, "classes"), "classes");
    this.exponents = field(told, "exponents");
    const two = Array.isArray(this.exponents) && this.exponents.length === 2 && this.exponents.every(isInteger);
    need(two, "the exponents of the cells are not two");
    if (this.complete) this.holdAgainstTable();
    else {
      const [low, high] = this.exponents;
      need(-1100n < low && low <= 1n && 1n <= high && high < 1100n, "the exponents of the cells are impossible");
    }
  }

  /** Classes and fingerprint of the whole table. */
  holdAgainstTable() {
    const { rows, d } = this.table;
    const numbers = new Map(this.classes.map((name, k) => [name, k]));
    const found = new Set(rows.map((row) => row.label));
    this.table.labels = [...found];
    const same = found.size === numbers.size && [...found].every((name) => numbers.has(name));
    need(same, `it is about other data: the classes are ${listed([...found].sort(byLetters))}`); // [S3]
    need(sameJson(this.exponents, spreadOf(rows)), `it is about other data, not these ${rows.length} rows`);
    const decimals = decimalsOf(this.table);
    need(sameJson(optional(this.told, "decimals"), decimals), `it is about other data, not these ${rows.length} rows`);
    const words = decimals === null ? null : decimals.map((pair) => pair.map(Number));
    const own = fingerprint(this.told, topOfRows(rows, numbers, d, words));
    need(field(this.told, "sha256") === own, `it is about other data, not these ${rows.length} rows`); // [S4]
  }
}

/** The rows z of one claim. A row z has a number: that of its row, or row * classes + k in Kesler's construction. */
class Claimed {
  constructor(cert, scope, meter, sealed = true) {
    const intercept = field(cert, "intercept");
    need(typeof intercept === "boolean", "it does not say whether there is an intercept");
    Object.assign(this, { scope, meter, intercept, decimal: scope.decimal, d: scope.table.d });
    const side = this.readSides(cert);
    meter.charge(8 * scope.table.rows.length);
    this.used = new Map();
    this.present = new Set();
    const { at, rows } = scope.table;
    for (const [i, k] of at ?? rows.map((_, k) => [k, k])) {
      const { label } = rows[k];
      const own = side.has(label) ? side.get(label) : this.rest;
      need(own !== null || scope.complete, "without the table a claim is about the rows of all classes");
      if (own === null || scope.dropped.has(i)) continue;
      this.used.set(i, { side: own, row: rows[k] });
      this.present.add(label);
    }
    this.count = this.used.size;
    let sides = new Set([...this.used.values()].map((own) => own.side));
    if (!scope.complete) { // the fingerprint vouches for the classes
      this.count = scope.n - scope.dropped.size;
      this.present = new Set(scope.classes);
      sides = new Set(scope.classes.map((name) => (side.has(name) ? side.get(name) : this.rest)));
      need(!sides.has(null), "without the table a claim is about the rows of all classes");
    }
    for (const name of side.keys()) need(this.present.has(name) || !sealed, `class ${shown(name)} has no rows`); // [S3]
    const numbers = [...this.used.values()].reduce((sum, { row }) => sum + row.values.length + 1, 0);
    meter.charge(2 * numbers); // their sizes
    need(this.kesler !== null || sides.size === 2 || !sealed, "a side has no rows"); // [S3]
    this.measure();
  }

  /** The number of each class named: +1 or -1, or its position; `rest` is that of all other classes, null if unused. */
  readSides(cert) {
    this.kesler = optional(cert, "kesler");
    this.rest = null;
    if (this.kesler !== null) {
      distinctNames(this.kesler, "classes");
      need(this.kesler.length >= 2, "there is one class only"); // [S3]
      need(!cert.has("positive") && !cert.has("negative"), "it is about two sides and about all classes");
      Object.assign(this, { rule: "linear machine", unit: "comparison", last: this.kesler.length - 1 });
      return new Map(this.kesler.map((name, k) => [name, k]));
    }
    this.positive = distinctNames(field(cert, "positive"), "positive classes");
    this.negative = field(cert, "negative");
    const negative = this.negative === null ? [] : distinctNames(this.negative, "negative classes");
    if (this.negative === null) this.rest = -1; // all other classes
    need(!negative.some((name) => this.positive.includes(name)), "a class is on both sides"); // [S3]
    Object.assign(this, { rule: "hyperplane", unit: "row", last: 1 });
    return new Map([...negative.map((name) => [name, -1]), ...this.positive.map((name) => [name, 1])]);
  }

  /** Lengths and the bits that a number of a proof may have [C1]. */
  measure() {
    this.block = this.d + Number(this.intercept);
    this.p = this.block * this.last;
    this.n = this.count * this.last; // rows z
    const cells = [...this.used.values()].reduce((sum, { row }) => sum + row.values.length + 1, 0);
    this.cells = cells * (this.kesler === null ? 1 : 2 * this.last);
    this.size = Number(this.scope.exponents[1] - this.scope.exponents[0]) + 128; // bits of a cell, with room
    this.bits = 4096 + 16 * (this.p + 2) * this.size; // Cramer, Hadamard, and room [C1]
    this.exact = new Map();
  }

  // -- the rows z

  rowOf(key) {
    return this.kesler === null ? key : Math.floor(key / (this.last + 1));
  }

  text(key) {
    return this.kesler === null ? String(key) : `(${this.rowOf(key)}, ${key % (this.last + 1)})`;
  }

  /** Where the row stands in z, and with which sign: pairs of offset and sign [L14]. */
  blocks(key) {
    const { side } = this.used.get(this.rowOf(key));
    if (this.kesler === null) return [[0, side]];
    const pairs = [[side, 1], [key % (this.last + 1), -1]];
    return pairs.filter(([c]) => c < this.last).map(([c, sign]) => [c * this.block, sign]);
  }

  *allKeys() {
    for (const [i, { side }] of this.used) {
      if (this.kesler === null) yield i;
      else for (let k = 0; k <= this.last; k += 1) if (k !== side) yield i * (this.last + 1) + k;
    }
  }

  /** Rows z that exist, none of them twice. */
  keys(value) {
    need(Array.isArray(value), "a list of rows is missing");
    if (!this.scope.complete) {
      for (const i of value.map((entry) => (Array.isArray(entry) ? entry[0] : entry))) {
        const carried = !isInteger(i) || i < 0n || i >= BigInt(this.scope.n) || this.scope.table.at.has(Number(i));
        need(carried, `row ${i} is not among those that the certificate carries`);
      }
    }
    const made = value.map((entry) => this.key(entry));
    need(new Set(made).size === made.length && !made.includes(-1), "a row is repeated or does not exist");
    return made;
  }

  /** The number of a row z as a certificate writes it; -1 if there is none. */
  key(entry) {
    const parts = Array.isArray(entry) && entry.length === 2 ? entry : [entry];
    need(parts.every(isInteger), "a row is not a number");
    const i = Number(parts[0]); // compared with row numbers, which are exact
    if (parts.length !== (this.kesler === null ? 1 : 2) || !this.used.has(i)) return -1;
    if (this.kesler === null) return i;
    const k = Number(parts[1]);
    return 0 <= k && k <= this.last && k !== this.used.get(i).side ? i * (this.last + 1) + k : -1;
  }

  /** (x, 1) times a positive power of 2 (decimal reading: of 10) that makes it integral. */
  integral(row) {
    if (this.decimal) {
      const scales = row.columns.map((j) => this.scope.table.scales[j]);
      const most = scales.reduce((a, b) => Math.max(a, b), 0);
      const entries = row.whole.map((v, k) => v * 10n ** BigInt(most - scales[k]));
      return { columns: row.columns, entries, scale: 10n ** BigInt(most) };
    }
    const parts = row.values.map(dissected);
    const lowest = parts.reduce((least, part) => Math.min(least, part.power), 0);
    const entries = parts.map((part) => BigInt(part.whole) << BigInt(part.power - lowest));
    return { columns: row.columns, entries, scale: 1n << BigInt(-lowest) };
  }

  /** z times a positive integer, as pairs of column and integer. */
  scaled(key, x) {
    const made = [];
    for (const [at, sign] of this.blocks(key)) {
      x.entries.forEach((v, k) => made.push([at + x.columns[k], sign > 0 ? v : -v]));
      if (this.intercept) made.push([at + this.d, sign > 0 ? x.scale : -x.scale]);
    }
    return { cells: made, scale: x.scale };
  }

  z(key) {
    const i = this.rowOf(key);
    if (!this.exact.has(i)) this.exact.set(i, this.integral(this.used.get(i).row));
    return this.scaled(key, this.exact.get(i));
  }

  // -- numbers of a proof

  /** A hexadecimal integer, quotient or float, exactly: numerator and positive denominator. */
  number(text) {
    need(typeof text === "string" && text.length <= this.bits / 2, "a number is missing or far too long"); // [C1]
    const found = /^(-?)0x([0-9a-f]+)(?:\/0x([0-9a-f]+)|(?:\.([0-9a-f]+))?p([+-]?[0-9]{1,4}))?$/.exec(text);
    need(found !== null, `${shown(text)} is not a number`);
    const [, minus, whole, under, fraction = "", power] = found;
    const size = BigInt(`0x${whole}${fraction}`);
    const over = minus ? -size : size;
    if (power === undefined) {
      const bottom = under === undefined ? 1n : BigInt(`0x${under}`);
      need(bottom > 0n, "a denominator is zero");
      return { over, under: bottom };
    }
    const shift = Number(power) - 4 * fraction.length;
    return shift >= 0 ? { over: over << BigInt(shift), under: 1n } : { over, under: 1n << BigInt(-shift) };
  }

  /** Numbers as integers, all multiplied by the same positive integer. */
  numbers(value, count) {
    need(Array.isArray(value) && value.length === count, `a list of ${count} numbers is missing`);
    const ratios = value.map((text) => this.number(text));
    let common = 1n;
    for (const { under } of ratios) {
      if (under === 1n) continue;
      const bits = bitLength(under);
      this.meter.charge(4, bitLength(common), bits);
      if (common % under === 0n) continue;
      if (under % common === 0n) {
        common = under;
      } else {
        this.meter.charge(bits, 8 * bits); // Euclid's algorithm takes fewer than 2/3 of a step for each bit
        common *= under / greatestCommonDivisor(common, under);
      }
      const few = bitLength(common) <= this.bits;
      need(few, `the denominators have no common multiple of at most ${this.bits} bits`); // [C2]
    }
    const longest = longestOf(ratios.map((ratio) => ratio.over));
    this.meter.hold(count * (bitLength(common) + longest));
    this.meter.charge(count, bitLength(common), longest);
    return ratios.map(({ over, under }) => over * (common / under));
  }

  // -- exact sums and signs

  /** The rows z with integer weights, added up: the non-zeros of scale times the sum, and the positive integer scale. */
  combination(keys, weights) {
    const parts = keys.map((key) => this.z(key));
    const scale = parts.reduce((most, part) => (part.scale > most ? part.scale : most), 1n); // powers of one base
    const terms = parts.reduce((sum, part) => sum + part.cells.length, 0);
    this.meter.charge(terms, longestOf(weights) + bitLength(scale), this.size);
    const total = new Map();
    parts.forEach((part, k) => {
      const factor = weights[k] * (scale / part.scale);
      for (const [j, v] of part.cells) total.set(j, (total.get(j) ?? 0n) + factor * v);
    });
    return { total: new Map([...total].filter(([, v]) => v !== 0n)), scale };
  }

  /** The sign of z.w - level for every row z, by floating point only where its error is bounded [L1]. */
  *signs(w, level = 0n) {
    need(w.some((v) => v !== 0n), "a vector is zero");
    need(this.scope.complete, "that is a claim about all rows: check it against the table");
    this.meter.spend(this.cells);
    const all = [...w, level];
    const top = all.reduce((most, v) => (magnitude(v) > most ? magnitude(v) : most), 0n);
    this.meter.charge(all.length, 4 * bitLength(top));
    const rounded = Float64Array.from(all, (v) => nearestQuotient(v, top)); // each is rounded once
    const safe = all.every((v, k) => v === 0n || Math.abs(rounded[k]) > 1e-200);
    const shift = rounded[w.length];
    const moved = new Set(w.flatMap((v, j) => (v === 0n ? [] : [j % this.block]))); // other columns do not count
    for (const key of this.allKeys()) {
      const row = partOf(this.used.get(this.rowOf(key)).row, moved);
      const blocks = this.blocks(key);
      this.meter.charge(blocks.length * row.values.length + 1);
      let total = -shift, size = Math.abs(shift), terms = 1;
      for (const [at, sign] of blocks) {
        for (let k = 0; k < row.values.length; k += 1) {
          const term = rounded[at + row.columns[k]] * row.values[k];
          total += sign * term;
          size += Math.abs(term);
        }
        if (this.intercept) {
          total += sign * rounded[at + this.d];
          size += Math.abs(rounded[at + this.d]);
        }
        terms += row.values.length + Number(this.intercept);
      }
      if (safe && size < 1e290 && Math.abs(total) > (terms + 8) * 2 ** -51 * size + 1e-290) {
        yield [key, total > 0 ? 1 : -1];
        continue;
      }
      this.meter.charge(terms, bitLength(top), this.size);
      const z = this.scaled(key, this.integral(row));
      const exact = z.cells.reduce((sum, [j, v]) => sum + w[j] * v, -level * z.scale);
      yield [key, exact > 0n ? 1 : exact < 0n ? -1 : 0];
    }
  }
}

/** The values of a row in some columns. */
function partOf(row, columns) {
  if (row.columns.every((j) => columns.has(j))) return row;
  const places = row.columns.flatMap((j, k) => (columns.has(j) ? [k] : []));
  const whole = row.whole === undefined ? undefined : places.map((k) => row.whole[k]);
  return { columns: places.map((k) => row.columns[k]), values: places.map((k) => row.values[k]), whole };
}

// ---- Linear algebra ----------------------------------------------------------------------------------------------------

/** Gauss-Jordan elimination over the integers, in place (Bareiss 1968). Afterwards row k has, in the columns of the
 * pivots, only its own pivot, and all pivots are the same number. Gives the columns of the pivots. */
function eliminate(matrix, width, meter) {
  const pivots = [];
  let before = 1n;
  for (let c = 0; c < width && pivots.length < matrix.length; c += 1) {
    const k = pivots.length;
    const q = matrix.findIndex((row, i) => i >= k && row[c] !== 0n);
    if (q < 0) continue;
    const bits = matrix.reduce((most, row) => Math.max(most, longestOf(row)), 0);
    meter.charge(12 * width * matrix.length, bits, bits);
    [matrix[k], matrix[q]] = [matrix[q], matrix[k]];
    const top = matrix[k];
    matrix.forEach((row, i) => {
      if (i === k) return;
      const factor = row[c];
      for (let j = 0; j < width; j += 1) row[j] = (top[c] * row[j] - factor * top[j]) / before;
    });
    before = top[c];
    pivots.push(c);
  }
  return pivots;
}

/** The vectors, each a Map or list of pairs of column and integer, as rows of a matrix without columns of zeros. */
function dense(vectors) {
  const columns = [...new Set(vectors.flatMap((vector) => vector.map(([j]) => j)))].sort((a, b) => a - b);
  const place = new Map(columns.map((j, k) => [j, k]));
  return vectors.map((vector) => {
    const row = new Array(columns.length).fill(0n);
    for (const [j, v] of vector) row[place.get(j)] = v;
    return row;
  });
}

/** The rank modulo a prime, which is never above the rank [L5]. */
function rankModulo(matrix, prime, meter) {
  const width = matrix.length === 0 ? 0 : matrix[0].length;
  const basis = []; // {column, row}: 1 in its column, 0 in the columns of those before it
  const reduced = (x) => {
    const rest = x - Math.floor(x / prime) * prime; // 0 <= x < 2^53; the quotient may be off by one
    return rest < 0 ? rest + prime : rest >= prime ? rest - prime : rest;
  };
  for (const entries of matrix) {
    const row = Float64Array.from(entries, (v) => {
      const rest = Number(v % BigInt(prime));
      return rest < 0 ? rest + prime : rest;
    });
    for (const pivot of basis) {
      const factor = row[pivot.column];
      meter.charge(1, 64 * width);
      if (factor === 0) continue;
      meter.charge(1, 192 * width, 64);
      for (let j = 0; j < width; j += 1) row[j] = reduced(row[j] + (prime - factor) * pivot.row[j]);
    }
    const column = row.findIndex((v) => v !== 0);
    if (column < 0) continue;
    const inverse = Number(powerModulo(BigInt(row[column]), BigInt(prime - 2), BigInt(prime))); // Fermat
    basis.push({ column, row: row.map((v) => reduced(v * inverse)) });
  }
  return basis.length;
}

function powerModulo(base, exponent, modulus) {
  let made = 1n;
  for (let square = base; exponent > 0n; exponent >>= 1n, square = (square * square) % modulus) {
    if (exponent & 1n) made = (made * square) % modulus;
  }
  return made;
}

/** Whether vectors have rank p, their length: modulo primes, or in integers where those do not show it [L5]. */
function haveRank(vectors, p, meter) {
  if (vectors.length < p) return false;
  const matrix = dense(vectors);
  if (PRIMES.some((prime) => rankModulo(matrix, prime, meter) === p)) return true;
  return eliminate(matrix, matrix[0].length, meter).length === p;
}

// ---- Least eigenvalues [L17] -------------------------------------------------------------------------------------------

/** floor(a / b) for b > 0. */
function floorQuotient(a, b) {
  const quotient = a / b;
  return a < 0n && quotient * b !== a ? quotient - 1n : quotient;
}

function integerRoot(value) {
  let root = 1n << BigInt((bitLength(value) + 1) >> 1); // not below the root, so that Newton's steps descend to it
  for (;;) {
    const next = (root + value / root) >> 1n;
    if (next >= root) return root;
    root = next;
  }
}

/** The upper half of A'A and a bound on its entries: as doubles where all of them are exact, else as BigInts. */
function gramMatrix(a, meter) {
  const c = a[0].length;
  const upper = [];
  if (a[0] instanceof Float64Array) {
    meter.spend((a.length * c * (c + 3)) / 2);
    let top = 0;
    for (let j = 0; j < c; j += 1) top = Math.max(top, a.reduce((sum, row) => sum + row[j] * row[j], 0));
    if (top < EXACT) { // and then so are all partial sums of all entries, by Cauchy and Schwarz
      for (let i = 0; i < c; i += 1) {
        const line = new Float64Array(c);
        for (const row of a) {
          const factor = row[i];
          if (factor !== 0) for (let j = i; j < c; j += 1) line[j] += factor * row[j];
        }
        upper.push(line);
      }
      return { upper, top: BigInt(top) };
    }
  }
  const whole = a.map((row) => Array.from(row, BigInt));
  const longest = whole.reduce((most, row) => Math.max(most, longestOf(row)), 0);
  meter.charge(whole.length * c * c, longest, longest);
  for (let i = 0; i < c; i += 1) {
    const line = new Array(c).fill(0n);
    for (const row of whole) if (row[i] !== 0n) for (let j = i; j < c; j += 1) line[j] += row[i] * row[j];
    upper.push(line);
  }
  return { upper, top: upper.reduce((most, line, i) => (line[i] > most ? line[i] : most), 0n) };
}

/** The sum of absolute values of the largest column above the diagonal of the factor U of M - shift I, with t bits for the
 * quotients l_ik = u_ki / u_kk; null where a double is not exact. All u_kk must be positive [L17]. */
function factorDoubles(upper, shift, t, meter) {
  const c = upper.length;
  const low = Math.min(14, t - 1); // quotients are split: l = high 2^low + rest, 0 <= rest < 2^low
  const part = 2 ** low, unit = 2 ** (t - low);
  const rows = [], sizes = [], sums = new Float64Array(c); // sums_j = sum_k |u_kj| for k < j
  if (!(shift < BigInt(EXACT)) || t > 60) return null;
  for (let i = 0; i < c; i += 1) {
    meter.charge(i, 128, 128);
    meter.spend(3 * i * (c - i) + 8 * c);
    const u = new Float64Array(c), highs = new Float64Array(c), rests = new Float64Array(c);
    let reach = 0; // at least the absolute value of any sum of the products high u_kj
    for (let k = 0; k < i; k += 1) {
      const d = BigInt(rows[k][k]);
      const l = floorQuotient((BigInt(rows[k][i]) << BigInt(t + 1)) + d, 2n * d); // 2^t l_ik
      const rest = l & BigInt(part - 1), high = Number((l - rest) >> BigInt(low));
      reach += Math.abs(high) * sizes[k];
      if (reach >= EXACT / 4) return null;
      const row = rows[k], small = Number(rest);
      if (high !== 0) for (let j = i; j < c; j += 1) highs[j] += high * row[j];
      if (small !== 0) for (let j = i; j < c; j += 1) rests[j] += small * row[j];
    }
    let size = 0;
    for (let j = i; j < c; j += 1) {
      const n = upper[i][j] - (j === i ? Number(shift) : 0);
      if (sums[j] * part >= EXACT || Math.abs(n) * unit >= EXACT / 4) return null;
      u[j] = Math.floor((n * unit - highs[j] + unit / 2 + Math.floor(-rests[j] / part)) / unit); // to the nearest
      size = Math.max(size, Math.abs(u[j]));
    }
    need(u[i] > 0, "the rows are not shown to span the space"); // [L17]
    for (let j = i + 1; j < c; j += 1) sums[j] += Math.abs(u[j]);
    rows.push(u);
    sizes.push(size);
  }
  return BigInt(sums.reduce((most, v) => Math.max(most, v), 0));
}

/** The same in integers of any size. */
function factorIntegers(upper, shift, t, meter) {
  const c = upper.length, shiftBits = BigInt(t), half = 1n << BigInt(t - 1);
  const rows = [], sums = new Array(c).fill(0n);
  for (let i = 0; i < c; i += 1) {
    const total = Array.from(upper[i], (v) => BigInt(v) << shiftBits);
    total[i] -= shift << shiftBits;
    for (let k = 0; k < i; k += 1) {
      const row = rows[k];
      const l = floorQuotient((row[i] << (shiftBits + 1n)) + row[k], 2n * row[k]);
      meter.charge(2 * (c - i) + 4, longestOf(row), bitLength(l));
      if (l !== 0n) for (let j = i; j < c; j += 1) total[j] -= l * row[j];
    }
    const u = total.map((v, j) => (j < i ? 0n : (v + half) >> shiftBits));
    need(u[i] > 0n, "the rows are not shown to span the space"); // [L17]
    for (let j = i + 1; j < c; j += 1) sums[j] += magnitude(u[j]);
    rows.push(u);
  }
  return sums.reduce((most, v) => (v > most ? v : most), 0n);
}

/** A number {over, under} that no eigenvalue of M is below, close to the shift; `slack` is what rounding may cost [L17]. */
function eigenvaluesAbove({ upper, top }, shift, slack, meter) {
  const c = BigInt(upper.length);
  const t = Math.max(8, bitLength((2n * c * (integerRoot(c) + 1n) * top) / slack));
  let most = upper[0] instanceof Float64Array ? factorDoubles(upper, shift, t, meter) : null;
  if (most === null) most = factorIntegers(upper, shift, t, meter);
  const under = 2n << BigInt(t);
  return { over: (2n * shift - c) * (under / 2n) - c * most, under };
}

// ---- Parts of proofs ---------------------------------------------------------------------------------------------------

/** A list of so many integers, none of them too long for a short circulation. */
function integerList(value, count, what) {
  need(Array.isArray(value) && value.length === count, `a list of ${count} ${what} is missing`);
  need(value.every(isInteger), `one of the ${what} is not an integer`);
  need(value.every((v) => bitLength(v) <= MOST_BITS), `one of the ${what} is far too long`); // [C5]
  return value;
}

function nullVectors(data, given) {
  const value = given.has("null") ? given.get("null") : [];
  need(Array.isArray(value) && value.length <= data.p, "there are too many null vectors");
  return value.map((vector) => data.numbers(vector, data.p));
}

/** The columns without the free ones, and an exponent for each; no null vector shares its free column [L18]. */
function boundColumns(data, near, vectors) {
  const free = integerList(near.has("free") ? near.get("free") : [], vectors.length, "free columns").map(Number);
  const exist = free.every((j) => 0 <= j && j < data.p);
  need(exist && new Set(free).size === free.length, "a free column does not exist"); // [L18]
  vectors.forEach((v, k) => {
    need(free.every((j) => (v[j] !== 0n) === (j === free[k])), "a null vector is not that of its free column"); // [L18]
  });
  const apart = new Set(free);
  const columns = Array.from({ length: data.p }, (_, j) => j).filter((j) => !apart.has(j));
  const exponents = integerList(field(near, "exponents"), columns.length, "exponents").map(Number);
  need(exponents.every((e) => Math.abs(e) <= MOST_BITS), "an exponent is far too large"); // [C5]
  return { columns, exponents };
}

/** Some weights > 0 have sum weight_i sign_i z_i = 0, and the rows have rank p less the number of null vectors [L18]: the
 * weights of the certificate nearly do, and its first rows, J, can make up for the rest. Where `push` is a column j and a
 * sign, the row sign e_j, which is not of J, takes part with a weight of its own [L19]. */
function shortCirculation(data, given, keys, signs, push = null) {
  const near = given.get("near"), vectors = nullVectors(data, given);
  need(near instanceof Map && optional(given, "lambda") === null, "the weights are given in two ways or in none");
  const { columns, exponents } = boundColumns(data, near, vectors);
  const weights = [...integerList(field(near, "weights"), keys.length, "weights")];
  const [count, floor] = integerList([field(near, "inner"), field(near, "floor")], 2, "bounds");
  const fits = columns.length > 0 && BigInt(columns.length) <= count && count <= BigInt(keys.length);
  need(fits, "the rows that make up for the rest are too few or too many"); // [L18]
  if (push !== null) {
    need(vectors.every((v) => v[push.column] === 0n), "a null vector moves the coefficient"); // [L19]
    weights.push(...integerList([field(near, "push")], 1, "weights"));
  }
  need(weights.every((v) => v > 0n), "a weight is not positive"); // [L18]
  const inner = Number(count);
  const total = weights.reduce((sum, v) => sum + v, 0n);
  const least = weights.slice(0, inner).reduce((a, b) => (a < b ? a : b));
  const guard = bitLength(total / least) + 8; // any number is sound
  const { h, shifts } = roundedRows(data, keys, columns, exponents, guard, vectors);
  data.meter.charge(keys.length * columns.length, MOST_BITS / 4, longestOf(weights));
  const sums = new Array(columns.length).fill(0n);
  h.forEach((line, i) => {
    const weight = weights[i] * BigInt(signs[i]);
    line.forEach((v, j) => { sums[j] += weight * BigInt(v); });
  });
  if (push !== null) {
    const k = columns.indexOf(push.column), shift = BigInt(shifts[k]); // >> rounds down: within 1 of sign 2^shift
    sums[k] += weights.at(-1) * (shift >= 0n ? push.sign << shift : push.sign >> -shift);
  }
  const squares = sums.reduce((sum, v) => sum + (magnitude(v) + total) ** 2n, 0n);
  // |2^e_j r_j| <= (root(squares) + 1) / 2^guard
  farFromDependent(data, h.slice(0, inner), guard, integerRoot(squares) + 1n, least, floor);
}

/** e_j is a combination of the rows: they have rank p less the number of null vectors, which are zero at j [L19]. */
function spanCoefficient(data, given, keys, j) {
  const near = given.get("near"), vectors = nullVectors(data, given);
  need(near instanceof Map && optional(given, "c") === null, "the weights are given in two ways or in none");
  const { columns, exponents } = boundColumns(data, near, vectors);
  const [floor] = integerList([field(near, "floor")], 1, "bounds");
  need(columns.length > 0 && columns.length <= keys.length, "the rows are too few"); // [L19]
  need(vectors.every((v) => v[j] === 0n), "the rows do not span the coefficient"); // [L19]
  const { h } = roundedRows(data, keys, columns, exponents, 8, vectors);
  farFromDependent(data, h, 8, 0n, 1n, floor);
}

/** Integers within 1 of 2^(e_j + guard) z_ij for the rows and columns given; the null vectors must vanish on the rows. */
function roundedRows(data, keys, columns, exponents, guard, vectors) {
  const shifts = exponents.map((e) => e + guard);
  data.meter.hold(keys.length * columns.length * shifts.reduce((most, shift) => Math.max(most, shift), 0));
  const lengths = vectors.map(longestOf);
  const plain = !data.decimal && shifts.every((shift) => Math.abs(shift) <= 1000);
  const scales = plain ? Float64Array.from(shifts, powerOfTwo) : null;
  return { h: keys.map((key) => roundedRow(data, key, columns, shifts, scales, vectors, lengths)), shifts };
}

/** No matrix whose entries are within 2^-guard of h / 2^guard has a singular value up to rest / (least 2^guard) [L18]. */
function farFromDependent(data, h, guard, rest, least, floor) {
  const bits = BigInt(guard), unit = least << (bits + 1n);
  // |rounding| <= (1/2 + 2^-guard) (root(m c) + 1), and what rest stands for, both times `unit`
  const root = integerRoot(BigInt(h.length * h[0].length)) + 1n;
  const enough = (least << bits) * root + 2n * least * root + 2n * rest;
  const slack = floor * unit * unit - enough * enough;
  need(slack > 0n, "the weighted rows do not nearly sum to zero");
  const whole = slack / (unit * unit);
  const a = h.map((line) => nearest(line, guard)); // within 1/2 + 2^-guard of 2^e_j z_ij
  const single = a.every((line) => line instanceof Float64Array);
  const matrix = gramMatrix(single ? a : a.map((line) => Array.from(line, BigInt)), data.meter);
  const { over, under } = eigenvaluesAbove(matrix, floor, whole > 1n ? whole : 1n, data.meter);
  const shown = over > 0n && over * unit * unit > enough * enough * under;
  need(shown, "the rows that make up for the rest are not shown to be far from dependent"); // [L18]
}

/** The integers nearest to those of a line over 2^guard. */
function nearest(line, guard) {
  if (line instanceof Float64Array && guard < 52) {
    return line.map((v) => Math.floor((v + 2 ** (guard - 1)) / 2 ** guard));
  }
  return Array.from(line, (v) => (BigInt(v) + (1n << BigInt(guard - 1))) >> BigInt(guard));
}

/** Integers within 1 of 2^shift_j z_j for the columns given: doubles where they are exact, else BigInts. The null vectors
 * must vanish on the row [L18]. */
function roundedRow(data, key, columns, shifts, scales, vectors, lengths) {
  data.meter.charge(columns.length, 256);
  if (vectors.length > 0) {
    const { cells } = data.z(key);
    vectors.forEach((v, k) => {
      data.meter.charge(cells.length, lengths[k], data.size);
      need(cells.reduce((sum, [j, t]) => sum + v[j] * t, 0n) === 0n, "a null vector does not vanish on every row"); // [L18]
    });
  }
  if (scales !== null) {
    const { row } = data.used.get(data.rowOf(key));
    const z = new Float64Array(data.p);
    for (const [at, sign] of data.blocks(key)) {
      for (let k = 0; k < row.values.length; k += 1) z[at + row.columns[k]] = sign * row.values[k];
      if (data.intercept) z[at + data.d] = sign;
    }
    // a power of two changes no digit, except below 2^-1022, where what is lost is far below 1
    const line = Float64Array.from(columns, (j, k) => Math.floor(z[j] * scales[k]));
    if (line.every((v) => Math.abs(v) < EXACT / 2)) return line;
  }
  data.meter.charge(2 * columns.length, 4 * MOST_BITS + data.size);
  const { cells, scale } = data.z(key);
  const z = new Map(cells);
  return columns.map((j, k) => {
    const t = z.get(j) ?? 0n, shift = BigInt(shifts[k]);
    return shift >= 0n ? floorQuotient(t << shift, scale) : floorQuotient(t, scale << -shift);
  });
}

/** The weights of rows given without any: their null space must be a line. */
function lineWeights(data, keys) {
  need(keys.length <= INDEX_ONLY, `a witness of more than ${INDEX_ONLY} rows must carry its weights`); // [C3]
  const parts = keys.map((key) => data.z(key));
  const rows = dense(parts.map((part) => part.cells));
  const matrix = rows[0].map((_, j) => rows.map((row) => row[j])); // a column for each row z
  const pivots = eliminate(matrix, keys.length, data.meter);
  need(pivots.length === keys.length - 1, "the witness is not a circuit");
  const free = keys.findIndex((_, k) => !pivots.includes(k));
  const line = new Array(keys.length).fill(1n);
  if (pivots.length > 0) line[free] = matrix[0][pivots[0]];
  pivots.forEach((c, k) => { line[c] = -matrix[k][free]; });
  return line.map((v, k) => v * parts[k].scale);
}

/** Weights > 0 with sum weight_i sign_i z_i = 0: given, solved for, or near those given [L2, L11, L18]. */
function signedCirculation(data, given, keys, signs) {
  need(keys.length > 0, "the witness is empty");
  if (optional(given, "near") !== null) {
    shortCirculation(data, given, keys, signs);
    return;
  }
  let weights;
  if (optional(given, "lambda") === null) {
    const line = lineWeights(data, keys).map((v, k) => v * BigInt(signs[k]));
    weights = line[0] > 0n ? line : line.map((v) => -v);
  } else {
    weights = data.numbers(given.get("lambda"), keys.length);
  }
  need(weights.every((v) => v > 0n), "a weight is not positive"); // [L2]
  const { total } = data.combination(keys, weights.map((v, k) => v * BigInt(signs[k])));
  need(total.size === 0, "the weighted rows do not sum to zero"); // [L2]
}

/** The rows of a circulation [L2]: no w has z.w > 0 on all of them. */
function circulation(data, given) {
  const keys = data.keys(field(given, "support"));
  signedCirculation(data, given, keys, keys.map(() => 1));
  return keys;
}

/** A w with z.w >= 0 for every row z, and the number of rows with z.w > 0. */
function weakVector(data, value) {
  const w = data.numbers(value, data.p);
  let strict = 0;
  for (const [key, sign] of data.signs(w)) {
    need(sign >= 0, `row ${data.text(key)} lies on the wrong side`);
    strict += sign;
  }
  return { w, strict };
}

function vanishes(data, v) {
  for (const [, sign] of data.signs(v)) if (sign !== 0) return false;
  return true;
}

function coefficient(data, cert) {
  const j = field(cert, "coefficient");
  need(isInteger(j) && 0n <= j && j < BigInt(data.p), "the coefficient does not exist");
  return Number(j);
}

/** The sign of t where the rows with these weights add up to t times the unit vector j, t not 0. */
function unitSign(data, keys, weights, j) {
  const { total } = data.combination(keys, weights);
  need(total.size === 1 && total.has(j), "the rows with their weights do not add up to the coefficient");
  return total.get(j) > 0n ? 1 : -1;
}

// ---- Words -------------------------------------------------------------------------------------------------------------

const STRICTLY_ALL = "strictly on their correct sides";
const STRICTLY_ONE = "strictly on its correct side";

function coefficientName(data, k) {
  const { columns } = data.scope;
  const j = k % data.block;
  const column = j === data.d ? "" : columns === null ? `column ${j}` : shown(columns[j]);
  const name = j === data.d ? "the intercept" : `the coefficient of ${column}`;
  if (data.kesler === null) return name;
  const own = data.kesler[Math.floor(k / data.block)];
  return `${name} for class ${shown(own)} against ${shown(data.kesler[data.last])}`;
}

/** All that the claim is about: table, target, columns, classes, rows, intercept and reading of numbers [S]. */
function scopeWords(data) {
  const { columns, table, dropped, target } = data.scope;
  const unnamed = data.d === 1 ? "1 column without a name" : `${data.d} columns without names`;
  let words = columns === null ? unnamed : `columns ${listed(columns)}`;
  if (columns !== null && table.columns === null) words = `${unnamed}, called ${listed(columns)} by the certificate`;
  if (table.unused.length > 0) words += ` (not used: ${listed(table.unused)})`;
  const { present } = data;
  let classes;
  if (data.kesler !== null) {
    classes = `classes ${listed(data.kesler)} at once, a weight vector for each but the last, which has zero`;
  } else {
    const rest = [...present].filter((name) => !data.positive.includes(name)).sort(byLetters);
    const others = data.negative === null ? `all other classes (${listed(rest)})` : `class ${listed(data.negative)}`;
    classes = `class ${listed(data.positive)} against ${others}`;
  }
  const { n } = data.scope;
  let rows = data.count === n ? `all ${n} rows` : `${data.count} of ${n} rows`;
  if (dropped.size > 0) {
    const first = [...dropped].sort((a, b) => a - b).slice(0, 12).join(", ") + (dropped.size > 12 ? ", ..." : "");
    rows += `, ${dropped.size} dropped by the certificate (rows ${first})`;
  }
  const unused = table.labels.filter((name) => !present.has(name));
  if (unused.length > 0) rows += `, none of class ${listed(unused.sort(byLetters))}`;
  let labels = target === null ? "the labels given" : `target ${shown(target)}`;
  if (target !== null && table.target === null) labels = `the labels given, called ${shown(target)} by the certificate`;
  const intercept = data.intercept ? "with an intercept" : "without an intercept";
  const reading = data.decimal ? "the decimals that they print as" : "binary64";
  const where = data.scope.complete ? `table ${shown(table.name)}` : `the table with the fingerprint ${data.scope.told.get("sha256")}`;
  const parts = [where, labels, words, classes, rows, intercept, `numbers read as ${reading}`];
  return `[${parts.join("; ")}]`;
}

/** What a circulation on these rows proves. */
function ruledOut(data, keys, most = 10) {
  const first = [...keys].sort((a, b) => a - b).slice(0, most).map((key) => data.text(key));
  const these = first.join(", ") + (keys.length > most ? ", ..." : "");
  const one = `this ${data.unit} ${STRICTLY_ONE}`;
  const what = keys.length === 1 ? one : `all of these ${keys.length} ${data.unit}s ${STRICTLY_ALL}`;
  return `no ${data.rule} has ${what}: ${these} (rows count from 0)`;
}

/** A double > 0 in 17 digits, rounded half to even, without trailing zeros. */
function digits17(value) {
  const { whole, power } = dissected(value);
  const over = power >= 0 ? BigInt(whole) << BigInt(power) : BigInt(whole);
  const under = power >= 0 ? 1n : 1n << BigInt(-power);
  let exponent = Math.floor(Math.log10(value));
  for (;;) {
    const places = 16 - exponent;
    const top = places >= 0 ? over * 10n ** BigInt(places) : over;
    const bottom = places >= 0 ? under : under * 10n ** BigInt(-places);
    let digits = top / bottom;
    const twice = 2n * (top - digits * bottom);
    if (twice > bottom || (twice === bottom && (digits & 1n) === 1n)) digits += 1n;
    if (digits >= 10n ** 17n) exponent += 1;
    else if (digits < 10n ** 16n) exponent -= 1;
    else return inPlaces(digits.toString(), exponent);
  }
}

function inPlaces(digits, exponent) {
  if (exponent < -4 || exponent >= 17) {
    const rest = digits.slice(1).replace(/0+$/, "");
    const power = String(Math.abs(exponent)).padStart(2, "0");
    return `${digits[0]}${rest && `.${rest}`}e${exponent < 0 ? "-" : "+"}${power}`;
  }
  const text = exponent < 0 ? "0".repeat(-exponent) + digits : digits;
  const point = Math.max(exponent, 0) + 1;
  const rest = text.slice(point).replace(/0+$/, "");
  return text.slice(0, point) + (rest && `.${rest}`);
}

/** A square root for people, in 17 digits whatever its size. */
function rootText({ over, under }) {
  const e = Math.floor((bitLength(over) - bitLength(under)) / 2);
  if (Math.abs(e) >= 1000) return `2^${e}`;
  const twice = BigInt(2 * Math.abs(e));
  const ratio = e >= 0 ? nearestQuotient(over, under << twice) : nearestQuotient(over << twice, under);
  return digits17(Math.sqrt(ratio) * powerOfTwo(e));
}

// ---- Claims: each gives what it proves, in words, and the rows that prove it ---------------------------------------------

/** [L3] */
function complete(data, cert) {
  for (const [key, sign] of data.signs(data.numbers(field(cert, "w"), data.p))) {
    need(sign > 0, `row ${data.text(key)} does not lie strictly on its side`);
  }
  const words = `one ${data.rule} has all ${plural(data.n, data.unit)} ${STRICTLY_ALL}: completely separable`;
  return { words, keys: [] };
}

/** [L2] */
function notComplete(data, cert) {
  const keys = circulation(data, cert);
  return { words: ruledOut(data, keys), keys };
}

/** [L4] */
function quasi(data, cert) {
  const none = notComplete(data, cert);
  const { strict } = weakVector(data, field(cert, "w"));
  need(strict > 0, "every row lies on the hyperplane");
  const some = `one has none on its wrong side and ${strict} of the ${plural(data.n, data.unit)} ${STRICTLY_ALL}`;
  return { words: `${none.words}; ${some}: quasi-complete`, keys: none.keys };
}

/** [L6] */
function overlap(data, cert) {
  let keys = circulation(data, cert);
  if (keys.length < data.n) {
    const vectors = nullVectors(data, cert);
    for (const v of vectors) need(vanishes(data, v), "a null vector does not vanish on every row");
    if (optional(cert, "near") === null) { // otherwise [L18] has shown it
      const together = [...keys.map((key) => data.z(key).cells), ...vectors.map((v) => [...v.entries()])];
      need(haveRank(together, data.p, data.meter), "the witness does not span the rows");
    }
  }
  if (optional(cert, "witness") !== null) keys = circulation(data, cert.get("witness"));
  const weakly = `every ${data.rule} that has none of the ${plural(data.n, data.unit)} on its wrong side`;
  return { words: `${ruledOut(data, keys)}; ${weakly} has all of them on it: overlap`, keys };
}

/** [L7] */
function finite(data, cert) {
  const j = coefficient(data, cert);
  const tied = circulation(data, cert);
  let keys = tied;
  if (optional(cert, "near") === null) {
    const inside = new Set(tied);
    keys = data.keys(field(cert, "rows"));
    need(keys.every((key) => inside.has(key)), "a row is outside the circulation");
    unitSign(data, keys, data.numbers(field(cert, "c"), keys.length), j);
  } else { // the rows span what is orthogonal to the null vectors [L18]
    need(nullVectors(data, cert).every((v) => v[j] === 0n), "the rows do not span the coefficient");
  }
  const words = "is finite: it converges to one value where the logistic likelihood is maximised";
  return { words: `${coefficientName(data, j)} ${words}`, keys };
}

/** [L8, L19] */
function infinite(data, cert) {
  const j = coefficient(data, cert);
  const sign = field(cert, "sign");
  need(sign === 1n || sign === -1n, "the sign is neither 1 nor -1");
  const { w } = weakVector(data, field(cert, "w"));
  need(sign * w[j] > 0n, "w does not move the coefficient that way");
  const short = optional(cert, "near") !== null;
  const keys = data.keys(field(cert, short ? "support" : "rows"));
  if (short) {
    need(optional(cert, "mu") === null, "the weights are given in two ways or in none");
    shortCirculation(data, cert, keys, keys.map(() => 1), { column: j, sign: -sign }); // [L19]
  } else {
    const mu = data.numbers(field(cert, "mu"), keys.length);
    need(mu.every((v) => v >= 0n), "a weight is negative");
    need(unitSign(data, keys, mu, j) === Number(sign), "the weights point the other way");
  }
  const end = sign > 0n ? "+infinity" : "-infinity";
  return { words: `${coefficientName(data, j)} tends to ${end} wherever the logistic likelihood is maximised`, keys };
}

/** [L9, L19] */
function undetermined(data, cert) {
  const j = coefficient(data, cert);
  const keys = data.keys(field(cert, "rows"));
  const up = weakVector(data, field(cert, "w1")).w;
  const down = weakVector(data, field(cert, "w2")).w;
  need(up[j] > 0n && down[j] < 0n, "the two vectors do not move the coefficient both ways");
  if (optional(cert, "near") === null) {
    unitSign(data, keys, data.numbers(field(cert, "c"), keys.length), j);
  } else {
    spanCoefficient(data, cert, keys, j); // [L19]
  }
  const words =
    "is identifiable but undetermined: the logistic likelihood is maximised both " +
    "where it tends to +infinity and where it tends to -infinity";
  return { words: `${coefficientName(data, j)} ${words}`, keys };
}

/** [L10] */
function unidentifiable(data, cert) {
  const j = coefficient(data, cert);
  const v = data.numbers(field(cert, "v"), data.p);
  need(v[j] !== 0n, "v does not move the coefficient");
  need(vanishes(data, v), "v does not vanish on every row");
  const words = "is not identifiable: it can be changed without changing any score";
  return { words: `${coefficientName(data, j)} ${words}`, keys: [] };
}

/** The rows z_i, and the rows -z_j written -1 - j, that some weights > 0 add up to zero [L11]. */
function signedWitness(data, entry) {
  const given = entry instanceof Map ? entry : new Map([["support", entry]]);
  const codes = field(given, "support");
  need(Array.isArray(codes) && codes.every(isInteger), "a row is not a number");
  const keys = data.keys(codes.map((code) => (code >= 0n ? code : -1n - code)));
  const signs = codes.map((code) => (code >= 0n ? 1 : -1));
  signedCirculation(data, given, keys, signs);
  return { plain: keys.filter((_, k) => signs[k] > 0), reversed: keys.filter((_, k) => signs[k] < 0) };
}

/** [L12, L20]: exactly the rows `wrong` are wrong for w, of those on the hyperplane `ahead` if it is given; the tree shows
 * that no w has fewer than `lower` wrong rows. Without `upper` only the second is claimed. */
function minErrors(data, cert) {
  need(data.kesler === null, "mistakes are counted between two groups of classes");
  const lower = field(cert, "lower");
  const upper = optional(cert, "upper");
  need(isInteger(lower) && lower >= 0n, "the bounds are not whole numbers");
  let wrong = new Set(), tied = "";
  if (upper !== null) {
    wrong = new Set(data.keys(field(cert, "wrong")));
    need(isInteger(upper) && lower <= upper && upper === BigInt(wrong.size), "the bounds are not those of the rows");
    const signs = new Map(data.signs(data.numbers(field(cert, "w"), data.p)));
    if (optional(cert, "ahead") !== null) {
      let strict = 0;
      for (const [key, sign] of data.signs(data.numbers(cert.get("ahead"), data.p))) {
        need(sign >= 0, `row ${data.text(key)} lies on the wrong side`); // [L20]
        if (sign > 0) signs.set(key, 1);
        strict += sign;
      }
      tied = `; only the ${data.n - strict} tied rows can be wrong`;
    }
    for (const [key, sign] of signs) {
      need(sign <= 0 === wrong.has(key), `row ${data.text(key)} is not as the certificate says`);
    }
  }
  if (lower > 0n) {
    const witnesses = field(cert, "witnesses");
    need(Array.isArray(witnesses), "the witnesses are missing");
    checkLowerBound(data, lower, witnesses.map((entry) => signedWitness(data, entry)), field(cert, "nodes"));
  }
  const least = `every hyperplane gets at least ${lower} of the ${plural(data.n, "row")} wrong`;
  const both = upper === null ? least : `${least}, and one gets ${upper} wrong`;
  return { words: `${both} (a row on the hyperplane counts as wrong)${tied}`, keys: [...wrong] };
}

/** Every w has at least `lower` wrong rows: by a tree of cases, or by blocks of rows [L12, L13]. */
function checkLowerBound(data, lower, pool, nodes) {
  need(Array.isArray(nodes) && nodes.length > 0, "the tree is missing");
  const seen = new Set();
  if (!(nodes[0] instanceof Map && nodes[0].has("blocks"))) return walkCases(data, lower, pool, nodes, 0n, seen, null);
  seen.add(0n);
  return checkBlocks(data, lower, pool, nodes, seen);
}

/** Each block of rows has so many wrong ones; no row bears more than `over` of blocks and witnesses [L13]. */
function checkBlocks(data, lower, pool, nodes, seen) {
  const root = nodes[0];
  const over = root.has("over") ? root.get("over") : 1n;
  const blocks = root.get("blocks");
  need(isInteger(over) && over > 0n, "over is not a positive integer");
  need(Array.isArray(blocks) && blocks.every((block) => block instanceof Map), "a block is not an object");
  const load = new Map();
  let total = 0n;
  const bear = (rows, t, complaint) => {
    for (const i of rows) {
      load.set(i, (load.get(i) ?? 0n) + t);
      need(load.get(i) <= over, complaint);
    }
  };
  for (const block of blocks) {
    const rows = new Set(data.keys(field(block, "rows")));
    const least = field(block, "lower");
    const t = block.has("weight") ? block.get("weight") : 1n;
    data.meter.charge(2 * rows.size);
    need(isInteger(least) && least > 0n, "the bound of a block is not a positive integer");
    need(isInteger(t) && t > 0n, "the weight of a block is not a positive integer");
    walkCases(data, least, pool, nodes, field(block, "node"), seen, rows);
    total += t * least;
    bear(rows, t, "blocks share a row");
  }
  for (const { witness, weight } of packedWitnesses(root, pool)) {
    data.meter.charge(2 * witness.plain.length);
    need(witness.reversed.length === 0, "a witness does not apply");
    total += weight;
    bear(witness.plain, weight, "witnesses share a row");
  }
  need(total > (lower - 1n) * over, `the blocks prove fewer than ${lower} mistakes`);
}

/** Walk the tree of cases: in each at least `lower` rows, of the block if any, are wrong, or it cannot occur. */
function walkCases(data, lower, pool, nodes, start, seen, block) {
  const bad = new Set(); // rows that the case has wrong, z.w < 0
  const good = new Set(); // rows that it has right, z.w > 0
  const stack = [{ visit: start }];
  while (stack.length > 0) {
    const step = stack.pop();
    if (step.visit === undefined) {
      if (step.enter !== undefined) step.of.add(step.enter);
      else step.of.delete(step.leave);
      continue;
    }
    const at = step.visit;
    const fresh = isInteger(at) && 0n <= at && at < BigInt(nodes.length) && !seen.has(at);
    need(fresh, "a node occurs twice or does not exist");
    seen.add(at);
    const node = nodes[Number(at)];
    need(node instanceof Map, "a node is not an object");
    if (!node.has("split")) {
      checkLeaf(data.meter, node, lower, pool, bad, good, block);
      continue;
    }
    const [i] = data.keys([node.get("split")]);
    need(!bad.has(i) && !good.has(i), "a row cannot be split on twice");
    need(block === null || block.has(i), "a split is on a row outside the block");
    need(data.z(i).cells.some(([, v]) => v !== 0n), "a zero row cannot be split on");
    stack.push({ leave: i, of: good }, { visit: field(node, "right") }, { enter: i, of: good });
    stack.push({ leave: i, of: bad }, { visit: field(node, "wrong") }, { enter: i, of: bad });
  }
}

/** The witnesses of a node with their weights. */
function packedWitnesses(node, pool) {
  const pack = field(node, "pack");
  need(Array.isArray(pack), "weights are missing");
  const weights = node.has("weights") ? node.get("weights") : pack.map(() => 1n);
  need(Array.isArray(weights) && weights.length === pack.length, "weights are missing");
  need(pack.every((k) => isInteger(k) && 0n <= k && k < BigInt(pool.length)), "a witness does not exist");
  need(weights.every((t) => isInteger(t) && t > 0n), "a weight of a witness is not a positive integer");
  return pack.map((k, at) => ({ witness: pool[Number(k)], weight: weights[at] }));
}

/** A case that is not split further [L13]. */
function checkLeaf(meter, node, lower, pool, bad, good, block) {
  const over = node.has("over") ? node.get("over") : 1n;
  need(isInteger(over) && over > 0n, "over is not a positive integer");
  const load = new Map();
  let sum = BigInt(bad.size) * over;
  for (const { witness, weight } of packedWitnesses(node, pool)) {
    const { plain, reversed } = witness;
    meter.charge(2 * (plain.length + reversed.length));
    const applies = reversed.every((i) => bad.has(i)) && !plain.some((i) => bad.has(i));
    need(applies, "a witness does not apply");
    need(block === null || plain.every((i) => block.has(i)), "a witness has a row outside the block");
    const open = plain.filter((i) => !good.has(i));
    if (open.length === 0) return; // the case cannot occur
    sum += weight;
    for (const i of open) {
      load.set(i, (load.get(i) ?? 0n) + weight);
      need(load.get(i) <= over, "witnesses share a row");
    }
  }
  need(sum > (lower - 1n) * over, `a case is left with fewer than ${lower} mistakes`);
}

/** [L15]: half the distance between the hulls of the classes; without an intercept as margin-lifted. */
function margin(data, cert) {
  return bracket(data, cert, data.intercept, "largest half-width");
}

/** [L16]: the distance between the origin and the hull of the rows z. */
function marginLifted(data, cert) {
  return bracket(data, cert, false, "lifted margin");
}

/** Any w bounds a margin from below, and any weights from above. `free`: the intercept is not part of the norm. */
function bracket(data, cert, free, name) {
  need(data.kesler === null, "a margin is between two groups of classes");
  const given = field(cert, "w");
  need(Array.isArray(given), "w is missing");
  const w = data.numbers([...given, field(cert, "m")], data.p + 1);
  const m = w.pop();
  const low = data.number(field(cert, "lo2"));
  const high = data.number(field(cert, "hi2"));
  need(m > 0n && low.over > 0n, "the margin is not positive");
  for (const [key, sign] of data.signs(w, m)) need(sign >= 0, `row ${data.text(key)} lies nearer than m`);
  const longest = longestOf([...w, m, low.over, low.under, high.over, high.under]);
  data.meter.charge(data.p + 8, longest, longest);
  const norm = w.slice(0, free ? data.d : data.p).reduce((sum, v) => sum + v * v, 0n);
  need(norm > 0n && norm * low.over <= m * m * low.under, "w does not prove the lower bound");
  const keys = data.keys(field(cert, "support"));
  let weights = data.numbers(field(cert, "lambda"), keys.length);
  need(keys.length > 0 && weights.every((v) => v > 0n), "a weight is not positive");
  const sides = keys.map((key) => data.used.get(key).side);
  const sum = (side) => weights.reduce((total, v, k) => (sides[k] === side ? total + v : total), 0n);
  const plus = sum(1), minus = sum(-1);
  let shares = plus + minus;
  if (free) {
    need(plus > 0n && minus > 0n, "the support lacks a class");
    weights = weights.map((v, k) => v * (sides[k] > 0 ? minus : plus)); // the averages of both sides, times plus * minus
    shares = 2n * plus * minus;
  }
  const { total, scale } = data.combination(keys, weights);
  const entries = [...total.values()];
  const wide = Math.max(bitLength(scale) + bitLength(shares), longestOf(entries));
  data.meter.charge(entries.length + 2, 2 * wide, wide + bitLength(high.over) + bitLength(high.under));
  const length = entries.reduce((squares, v) => squares + v * v, 0n);
  need(length * high.under <= high.over * (shares * scale) ** 2n, "the weights do not prove the upper bound");
  if (low.over * high.under !== high.over * low.under) {
    return { words: `the ${name} lies between about ${rootText(low)} and ${rootText(high)}`, keys };
  }
  const exactly = Math.max(bitLength(low.over), bitLength(low.under)) <= 64 ? `: its square is ${quotientText(low)}` : "";
  return { words: `the ${name} is known exactly, about ${rootText(low)}${exactly}`, keys };
}

function quotientText({ over, under }) {
  const common = greatestCommonDivisor(over, under);
  return under === common ? String(over / common) : `${over / common}/${under / common}`;
}

const CLAIMS = new Map([
  ["complete", complete],
  ["not-complete", notComplete],
  ["quasi", quasi],
  ["overlap", overlap],
  ["coefficient-finite", finite],
  ["coefficient-infinite", infinite],
  ["coefficient-undetermined", undetermined],
  ["coefficient-unidentifiable", unidentifiable],
  ["min-errors", minErrors],
  ["margin", margin],
  ["margin-lifted", marginLifted],
]);

// ---- Certificates --------------------------------------------------------------------------------------------------------

function needFormat(content) {
  const found = content instanceof Map ? content.get("format") : undefined;
  if (found === FORMAT) return;
  const other = typeof found === "string" ? `: its format is ${shown(found)}` : "";
  throw new Unreadable(`it is not a certificate of the format '${FORMAT}'${other}`);
}

/** The certificates of a file, all of them about the same data [S5]. */
function partsOf(content) {
  if (!content.has("certificates")) return [content];
  const parts = content.get("certificates");
  need(Array.isArray(parts) && parts.length > 0, "it holds no certificates");
  need(parts.every((part) => part instanceof Map), "a part is not a certificate");
  for (const part of parts) need(!part.has("format") && !part.has("data"), "a part of a bundle has data of its own");
  return parts;
}

/** What the certificate says about columns and target, which is needed to read the table. */
function describedData(content) {
  needFormat(content);
  partsOf(content);
  const told = field(content, "data");
  const columns = field(told, "columns");
  if (columns !== null) distinctNames(columns, "columns");
  const target = optional(told, "target");
  need(target === null || typeof target === "string", "the target is not a name");
  const reading = field(told, "reading");
  need(reading === "binary64" || reading === "decimal", "the reading of numbers is neither binary64 nor decimal");
  return { columns, target, reading };
}

const ABOUT = ["intercept", "positive", "negative", "kesler"]; // with the data, what a part is about

/** A sentence for each claim, all of them proved, with the rows that prove it; or Rejected with the first thing wrong.
 * Without a table, the certificate carries the rows that it needs. */
function check(content, given, most = MOST_WORK) {
  const meter = new Meter(most);
  try {
    needFormat(content);
    const table = given ?? carriedRows(content);
    need(table.rows.length > 0, "the table has no rows"); // [S3]
    const parts = partsOf(content);
    const scope = new Scope(field(content, "data"), table);
    let data = null, scopeSaid = "", last = null;
    return parts.map((cert) => {
      const claim = field(cert, "claim");
      need(CLAIMS.has(claim), `unknown claim ${shown(claim)}`);
      const about = ABOUT.map((name) => cert.get(name));
      if (last === null || !sameJson(about, last)) { // parts of a bundle are often about the same rows
        data = new Claimed(cert, scope, meter);
        scopeSaid = scopeWords(data);
        last = about;
      }
      const { words, keys } = CLAIMS.get(claim)(data, cert);
      return { claim, words, sentence: `${words} ${scopeSaid}`, rows: rowsOf(data, keys) };
    });
  } catch (error) {
    if (error instanceof Rejected) throw error;
    throw new Rejected(`malformed: ${error.name} ${error.message.slice(0, 80)}`);
  }
}

function rowsOf(data, keys) {
  return [...new Set(keys.map((key) => data.rowOf(key)))].sort((a, b) => a - b);
}

/** Whether the witness of the first claim of a certificate cancels on the rows of a table that has only some rows of the
 * one certified: what follows is about these rows, as given, alone [L2]. `numbers[i]` is the number of row i in the
 * certificate. */
function checkWitness(content, table, numbers) {
  try {
    needFormat(content);
    const [cert] = partsOf(content);
    need(["not-complete", "quasi", "overlap"].includes(field(cert, "claim")), "its first claim needs all rows");
    need(field(field(content, "data"), "d") === BigInt(table.d), "it is about another number of columns");
    need(new Set(numbers).size === table.rows.length && numbers.length === table.rows.length, "a row has no number of its own");
    const told = field(content, "data");
    const decimal = table.scales !== null;
    need(decimal === (field(told, "reading") === "decimal"), "the table was read in the other reading of numbers");
    const exponents = decimal ? [-1100n, 1100n] : spreadOf(table.rows);
    const scope = { table, dropped: new Set(), columns: table.columns, target: table.target, decimal, exponents };
    Object.assign(scope, { complete: true, n: table.rows.length });
    const data = new Claimed(cert, scope, new Meter(), false);
    data.used = new Map([...data.used].map(([i, own]) => [numbers[i], own]));
    const keys = circulation(data, optional(cert, "witness") ?? cert);
    return { words: ruledOut(data, keys), rows: rowsOf(data, keys), unit: data.unit, count: keys.length };
  } catch (error) {
    if (error instanceof Rejected) throw error;
    throw new Rejected(`malformed: ${error.name} ${error.message.slice(0, 80)}`);
  }
}

/** The whole check of a certificate's text and a table's text, or a function that reads it: {code, lines, results, rows},
 * with the exit code, what is printed, what is proved, and the number of rows of the table. */
function verify(certificate, tableText, tableName, target = null) {
  try {
    if (certificate.length > MOST_TEXT) {
      throw new Unreadable(`it is longer than ${MOST_TEXT} characters, far too long for a certificate`); // [C4]
    }
    const content = readJson(certificate);
    const told = describedData(content);
    if (target !== null && told.target !== null) {
      need(target === told.target, `it is about the target ${shown(told.target)}, not ${shown(target)}`);
    }
    let table = null;
    if (tableText !== null) {
      const text = typeof tableText === "function" ? tableText() : tableText;
      table = readTable(text, tableName, target || told.target, told.columns, told.reading);
    } else if (!content.has("rows")) {
      throw new Unreadable("the certificate does not carry its rows: name the table too");
    }
    const results = check(content, table);
    const lines = results.map(({ sentence }) => `proved: ${sentence}`);
    return { code: 0, lines, results, rows: table === null ? content.get("rows").size : table.rows.length };
  } catch (error) {
    if (error instanceof Rejected) return { code: 1, lines: [`not proved: ${error.message}`], results: [] };
    const why = String(error.message).slice(0, 300).split(SPACES).join(" ");
    return { code: 2, lines: [`cannot read: ${why}`], results: [] };
  }
}

// ---- The command ---------------------------------------------------------------------------------------------------------

function main(argv) {
  const fs = require("node:fs");
  const target = argv.length === 4 && argv[2] === "--target" ? argv[3] : null;
  let found;
  try {
    if (argv.length !== 1 && argv.length !== 2 && target === null) {
      throw new Unreadable("use it as: checker.js CERTIFICATE [TABLE [--target NAME]]");
    }
    const read = (path) => new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(fs.readFileSync(path));
    found = verify(read(argv[0]), argv.length > 1 ? () => read(argv[1]) : null, argv[1], target);
  } catch (error) {
    found = { code: 2, lines: [`cannot read: ${String(error.message).slice(0, 300)}`] };
  }
  try {
    fs.writeFileSync(found.code === 2 ? 2 : 1, `${found.lines.join("\n")}\n`);
  } catch (error) {
    if (found.code !== 2) fs.writeSync(2, `cannot write: ${error.message}\n`);
    return 2; // nobody has read the verdict
  }
  return found.code;
}

if (typeof module !== "undefined") {
  module.exports = { Rejected, Unreadable, check, checkWitness, readJson, readTable, sha256OfText, verify };
  if (require.main === module) process.exitCode = main(process.argv.slice(2));
}
