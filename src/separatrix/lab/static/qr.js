/* A QR code (ISO/IEC 18004) of a text: bytes, error correction of level L, the smallest version that holds them. */

// of versions 1 to 40 at level L: codewords for correction in each block, and blocks
const CORRECTION = [7, 10, 15, 20, 26, 18, 20, 24, 30, 18, 20, 24, 26, 30, 22, 24, 28, 30, 28, 28, 28, 28, 30, 30, 26, 28, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30];
const BLOCKS = [1, 1, 1, 1, 1, 2, 2, 2, 2, 4, 4, 4, 4, 4, 6, 6, 6, 6, 7, 8, 8, 9, 9, 10, 12, 12, 12, 13, 14, 15, 16, 17, 18, 19, 19, 20, 21, 22, 24, 25];
const LEVEL_L = 1; // as the format information has it

/** Products of GF(2⁸) with x⁸ + x⁴ + x³ + x² + 1. */
function times(a, b) {
  let product = 0;
  for (let k = 7; k >= 0; k -= 1) product = (product << 1) ^ ((product >>> 7) * 0x11d) ^ (((b >>> k) & 1) * a);
  return product;
}

/** The remainder of the data by the Reed-Solomon generator (x - 1)(x - 2)…(x - 2^(count-1)), whose first 1 is left out. */
function remainder(data, count) {
  const generator = new Array(count).fill(0);
  generator[count - 1] = 1;
  let power = 1;
  for (let i = 0; i < count; i += 1) {
    for (let j = 0; j < count; j += 1) generator[j] = times(generator[j], power) ^ (generator[j + 1] ?? 0);
    power = times(power, 2);
  }
  const left = new Array(count).fill(0);
  for (const byte of data) {
    const factor = byte ^ left.shift();
    left.push(0);
    generator.forEach((g, j) => { left[j] ^= times(g, factor); });
  }
  return left;
}

/** Where alignment patterns have their middles, in both directions. */
function alignments(version) {
  if (version === 1) return [];
  const count = Math.floor(version / 7) + 2, size = version * 4 + 17;
  const step = version === 32 ? 26 : Math.ceil((size - 13) / (2 * count - 2)) * 2;
  return [6, ...Array.from({ length: count - 1 }, (_, k) => size - 7 - step * (count - 2 - k))];
}

/** Modules that hold data, in bits, of which correction takes its part. */
function rawBits(version) {
  const count = version === 1 ? 0 : Math.floor(version / 7) + 2;
  const marks = version === 1 ? 0 : (25 * count - 10) * count - 55;
  return (16 * version + 128) * version + 64 - marks - (version >= 7 ? 36 : 0);
}

const room = (version) => Math.floor(rawBits(version) / 8) - CORRECTION[version - 1] * BLOCKS[version - 1];

/** Data with their corrections, interleaved over the blocks. */
function codewords(bytes, version) {
  const bits = [0, 1, 0, 0];
  const put = (value, length) => { for (let k = length - 1; k >= 0; k -= 1) bits.push((value >>> k) & 1); };
  put(bytes.length, version < 10 ? 8 : 16);
  bytes.forEach((byte) => put(byte, 8));
  const space = room(version) * 8;
  put(0, Math.min(4, space - bits.length));
  put(0, (8 - (bits.length % 8)) % 8);
  for (let pad = 0xec; bits.length < space; pad ^= 0xec ^ 0x11) put(pad, 8);
  const data = Array.from({ length: bits.length / 8 }, (_, i) => bits.slice(8 * i, 8 * i + 8).reduce((sum, bit) => 2 * sum + bit, 0));
  const blocks = BLOCKS[version - 1], correction = CORRECTION[version - 1], short = Math.floor(data.length / blocks), longer = data.length % blocks;
  let at = 0;
  const parts = Array.from({ length: blocks }, (_, k) => {
    const part = data.slice(at, at += short + (k >= blocks - longer ? 1 : 0));
    return { part, more: remainder(part, correction) };
  });
  const out = [];
  for (let i = 0; i <= short; i += 1) for (const { part } of parts) if (i < part.length) out.push(part[i]);
  for (let i = 0; i < correction; i += 1) for (const { more } of parts) out.push(more[i]);
  return out;
}

const MASKS = [(x, y) => (x + y) % 2, (x, y) => y % 2, (x) => x % 3, (x, y) => (x + y) % 3, (x, y) => (Math.floor(x / 3) + Math.floor(y / 2)) % 2,
  (x, y) => ((x * y) % 2) + ((x * y) % 3), (x, y) => (((x * y) % 2) + ((x * y) % 3)) % 2, (x, y) => (((x + y) % 2) + ((x * y) % 3)) % 2];

/** The patterns of a version: dark[y][x], and own[y][x] where a module is no data. */
function patterns(version) {
  const size = version * 4 + 17, grid = () => Array.from({ length: size }, () => new Array(size).fill(false));
  const dark = grid(), own = grid();
  const set = (x, y, value) => { if (x >= 0 && y >= 0 && x < size && y < size) { dark[y][x] = value; own[y][x] = true; } };
  for (let k = 0; k < size; k += 1) { set(6, k, k % 2 === 0); set(k, 6, k % 2 === 0); }
  for (const [x, y] of [[3, 3], [size - 4, 3], [3, size - 4]]) {
    for (let dy = -4; dy <= 4; dy += 1) for (let dx = -4; dx <= 4; dx += 1) { const far = Math.max(Math.abs(dx), Math.abs(dy)); set(x + dx, y + dy, far !== 2 && far !== 4); }
  }
  const at = alignments(version), last = at.length - 1;
  at.forEach((x, i) => at.forEach((y, j) => {
    if ((i === 0 && j === 0) || (i === 0 && j === last) || (i === last && j === 0)) return;
    for (let dy = -2; dy <= 2; dy += 1) for (let dx = -2; dx <= 2; dx += 1) set(x + dx, y + dy, Math.max(Math.abs(dx), Math.abs(dy)) !== 1);
  }));
  if (version >= 7) {
    let rest = version;
    for (let k = 0; k < 12; k += 1) rest = (rest << 1) ^ ((rest >>> 11) * 0x1f25);
    const bits = (version << 12) | rest;
    for (let k = 0; k < 18; k += 1) { const a = size - 11 + (k % 3), b = Math.floor(k / 3), on = ((bits >>> k) & 1) === 1; set(a, b, on); set(b, a, on); }
  }
  return { size, dark, own, set };
}

function setFormat({ size, set }, mask) {
  const data = (LEVEL_L << 3) | mask;
  let rest = data;
  for (let k = 0; k < 10; k += 1) rest = (rest << 1) ^ ((rest >>> 9) * 0x537);
  const bits = ((data << 10) | rest) ^ 0x5412, on = (k) => ((bits >>> k) & 1) === 1;
  for (let k = 0; k <= 5; k += 1) set(8, k, on(k));
  set(8, 7, on(6));
  set(8, 8, on(7));
  set(7, 8, on(8));
  for (let k = 9; k < 15; k += 1) set(14 - k, 8, on(k));
  for (let k = 0; k < 8; k += 1) set(size - 1 - k, 8, on(k));
  for (let k = 8; k < 15; k += 1) set(8, size - 15 + k, on(k));
  set(8, size - 8, true);
}

/** Data in columns of two, from the right, up and down by turns; the column of the timing pattern is passed over. */
function place({ size, dark, own }, words, mask) {
  let at = 0;
  for (let right = size - 1; right >= 1; right -= 2) {
    if (right === 6) right = 5;
    for (let step = 0; step < size; step += 1) {
      const y = ((right + 1) & 2) === 0 ? size - 1 - step : step;
      for (const x of [right, right - 1]) {
        if (own[y][x]) continue;
        const bit = at < words.length * 8 && ((words[at >>> 3] >>> (7 - (at & 7))) & 1) === 1;
        dark[y][x] = bit !== (MASKS[mask](x, y) === 0);
        at += 1;
      }
    }
  }
}

/** How hard a code is to read: long runs, blocks of one colour, patterns like those of the corners, uneven shares. */
function penalty(dark) {
  const size = dark.length, lines = [...dark, ...dark.map((_, x) => dark.map((row) => row[x]))];
  let sum = 0;
  for (const line of lines) {
    const text = line.map(Number).join("");
    for (const run of text.match(/0{5,}|1{5,}/g) ?? []) sum += run.length - 2;
    for (let k = 0; k + 11 <= size; k += 1) { const part = text.slice(k, k + 11); if (part === "10111010000" || part === "00001011101") sum += 40; }
  }
  for (let y = 0; y + 1 < size; y += 1) for (let x = 0; x + 1 < size; x += 1) if (dark[y][x] === dark[y][x + 1] && dark[y][x] === dark[y + 1][x] && dark[y][x] === dark[y + 1][x + 1]) sum += 3;
  const share = dark.flat().filter(Boolean).length / size ** 2;
  return sum + 10 * Math.floor(Math.abs(share - 0.5) * 20);
}

/** The modules of the code, true where dark, without the quiet border of four; null where the text is too long. */
export function qrCode(text) {
  const bytes = [...new TextEncoder().encode(text)];
  const version = CORRECTION.findIndex((_, k) => bytes.length <= room(k + 1) - (k + 1 < 10 ? 2 : 3)) + 1;
  if (version === 0) return null;
  const words = codewords(bytes, version);
  const made = MASKS.map((_, mask) => {
    const code = patterns(version);
    setFormat(code, mask);
    place(code, words, mask);
    return code.dark;
  });
  const costs = made.map(penalty);
  return made[costs.indexOf(Math.min(...costs))];
}
