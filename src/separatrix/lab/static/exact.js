/* Exact numbers: doubles as integers over one power of two, fractions, and linear algebra over integers. */

const view = new DataView(new ArrayBuffer(8));

const abs = (v) => (v < 0n ? -v : v);

export function gcd(a, b) {
  let [x, y] = [abs(a), abs(b)];
  while (y !== 0n) [x, y] = [y, x % y];
  return x;
}

/** A finite double as m · 2^e with an integer m. */
function dissected(value) {
  view.setFloat64(0, value);
  const high = view.getUint32(0), low = view.getUint32(4);
  const power = (high >>> 20) & 0x7ff;
  const fraction = (BigInt(high & 0xfffff) << 32n) | BigInt(low);
  const m = power === 0 ? fraction : fraction | (1n << 52n);
  return { m: high >>> 31 ? -m : m, e: Math.max(power, 1) - 1075 };
}

/** Vectors of doubles times one power of two 2^shift >= 1, as integers: the least shift that makes them so. */
export function integers(vectors) {
  const parts = vectors.map((vector) => vector.map(dissected));
  let shift = 0;
  for (const { m, e } of parts.flat()) {
    if (m === 0n) continue;
    let twos = 0;
    for (let rest = m; (rest & 1n) === 0n; rest >>= 1n) twos += 1;
    shift = Math.max(shift, -(e + twos));
  }
  const whole = ({ m, e }) => (m === 0n ? 0n : e + shift >= 0 ? m << BigInt(e + shift) : m >> BigInt(-e - shift));
  return { shift, vectors: parts.map((vector) => vector.map(whole)) };
}

export const dot = (a, b) => a.reduce((sum, v, j) => sum + v * b[j], 0n);

/** The vector without the common divisor of its entries. */
export function primitive(vector) {
  const common = vector.reduce(gcd, 0n);
  return common > 1n ? vector.map((v) => v / common) : vector;
}

const bits = (v) => abs(v).toString(2).length;

/** The double nearest to over / under, but for the last bit. */
export function quotient(over, under) {
  if (over === 0n) return 0;
  const shift = BigInt(bits(under) - bits(over) + 64);
  const whole = shift >= 0n ? (over << shift) / under : over / (under << -shift);
  let value = Number(whole), left = -Number(shift);
  while (left !== 0) { // in steps that neither overflow nor underflow on the way
    const step = Math.max(-900, Math.min(900, left));
    value *= 2 ** step;
    left -= step;
  }
  return value;
}

/** The root of over / under as a double. */
export function root(over, under) {
  if (over === 0n) return 0;
  let shift = BigInt(bits(under) - bits(over) + 128);
  if (shift % 2n !== 0n) shift += 1n;
  const whole = shift >= 0n ? (over << shift) / under : over / (under << -shift);
  return Math.sqrt(Number(whole)) * 2 ** (-Number(shift) / 2);
}

/** An integer vector in doubles, divided by what keeps its greatest entry near 1: for pictures. */
export function direction(vector) {
  const most = vector.reduce((top, v) => (abs(v) > top ? abs(v) : top), 1n);
  return vector.map((v) => quotient(v, most));
}

/** Row echelon form over the integers: its rows and their pivot columns. */
function echelon(vectors, width) {
  const rows = vectors.map((vector) => [...vector]), pivots = [];
  let at = 0;
  for (let j = 0; j < width && at < rows.length; j += 1) {
    const k = rows.findIndex((row, i) => i >= at && row[j] !== 0n);
    if (k < 0) continue;
    [rows[at], rows[k]] = [rows[k], rows[at]];
    for (let i = 0; i < rows.length; i += 1) {
      if (i === at || rows[i][j] === 0n) continue;
      const [p, q] = [rows[at][j], rows[i][j]];
      rows[i] = primitive(rows[i].map((v, c) => v * p - rows[at][c] * q));
    }
    pivots.push(j);
    at += 1;
  }
  return { rows: rows.slice(0, at), pivots };
}

/** An integer basis of the vectors that are orthogonal to all those given. */
export function orthogonal(vectors, width) {
  const { rows, pivots } = echelon(vectors, width);
  const free = Array.from({ length: width }, (_, j) => j).filter((j) => !pivots.includes(j));
  return free.map((f) => {
    const common = rows.reduce((product, row, i) => product * row[pivots[i]], 1n);
    const basis = new Array(width).fill(0n);
    basis[f] = common;
    rows.forEach((row, i) => { basis[pivots[i]] = (-row[f] * common) / row[pivots[i]]; });
    return primitive(basis);
  });
}

/** Integers c and d > 0 with Σ c_k columns_k = d · target; null where there are none. */
export function combination(columns, target) {
  const count = columns.length;
  const { rows, pivots } = echelon(target.map((v, i) => [...columns.map((column) => column[i]), v]), count + 1);
  if (pivots.includes(count)) return null;
  const over = rows.reduce((product, row, i) => abs(product * row[pivots[i]]), 1n);
  const c = new Array(count).fill(0n);
  rows.forEach((row, i) => { c[pivots[i]] = (row[count] * over) / row[pivots[i]]; });
  const common = c.reduce(gcd, over);
  return { c: c.map((v) => v / common), d: over / common };
}
