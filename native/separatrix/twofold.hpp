// Twofold precision from doubles alone: sums and products with their rounding errors.
//
// two_sum (Knuth 1969) and two_product by a fused multiply-add, which is exact on every machine, give
// the error of an operation as a double. A sum of products that carries the errors along in a second
// double is as good as if it had been computed in twice the precision and then rounded (Ogita, Rump and
// Oishi 2005). A number known to that precision is a pair high + low.
#pragma once
#include <algorithm>
#include <cmath>
#include <vector>

#include "rows.hpp"

namespace separatrix {

struct Twofold {
    double high, low;
};

inline Twofold two_sum(double a, double b) {
    const double s = a + b, t = s - a;
    return {s, (a - (s - t)) + (b - t)};
}

inline Twofold two_product(double a, double b) {
    const double p = a * b;
    return {p, std::fma(a, b, -p)};
}

inline Twofold times(double a, Twofold b) {
    const Twofold p = two_product(a, b.high);
    return two_sum(p.high, std::fma(a, b.low, p.low));
}

inline Twofold plus(Twofold a, Twofold b) {
    const Twofold s = two_sum(a.high, b.high);
    return two_sum(s.high, s.low + (a.low + b.low));
}

// s + e += x (high + low), the errors of the product and of the sum kept in e.
inline void accumulate(double x, double high, double low, double& s, double& e) {
    const double p = x * high, pe = std::fma(x, high, -p);
    const double t = s + p, b = t - s;
    e += ((s - (t - b)) + (p - b)) + std::fma(x, low, pe);
    s = t;
}

// x_i . (high + low)
template <class T>
Twofold dot_twofold(const Dense<T>& X, i64 i, const double* high, const double* low) {
    const T* x = X.row(i);
    double s[8] = {}, e[8] = {};
    i64 k = 0;
    for (; k + 8 <= X.d; k += 8)
        for (i64 l = 0; l < 8; ++l) accumulate(x[k + l], high[k + l], low[k + l], s[l], e[l]);
    for (i64 l = 0; k < X.d; ++k, ++l) accumulate(x[k], high[k], low[k], s[l], e[l]);
    Twofold total{0, 0};
    for (i64 l = 0; l < 8; ++l) total = plus(total, two_sum(s[l], e[l]));
    return total;
}

template <class T, class I>
Twofold dot_twofold(const Csr<T, I>& X, i64 i, const double* high, const double* low) {
    double s = 0, e = 0;
    for (I k = X.start[i]; k < X.start[i + 1]; ++k) accumulate(X.value[k], high[X.column[k]], low[X.column[k]], s, e);
    return two_sum(s, e);
}

// high + low += c x_i
template <class T>
void axpy_twofold(const Dense<T>& X, Twofold c, i64 i, double* high, double* low) {
    const T* x = X.row(i);
    for (i64 k = 0; k < X.d; ++k) accumulate(x[k], c.high, c.low, high[k], low[k]);
}

template <class T, class I>
void axpy_twofold(const Csr<T, I>& X, Twofold c, i64 i, double* high, double* low) {
    for (I k = X.start[i]; k < X.start[i + 1]; ++k) accumulate(X.value[k], c.high, c.low, high[X.column[k]], low[X.column[k]]);
}

// Eight rows of a dense table side by side: their dot products end in additions that wait for each other.
struct Twofold8 {
    v8 high, low;
};
SEPARATRIX_INLINE Twofold8 two_sum(v8 a, v8 b) {
    const v8 s = a + b, t = s - a;
    return {s, (a - (s - t)) + (b - t)};
}

// out = the sum of `count` vectors of a length, by a tree of pairs, with the rounding errors of the additions kept aside
// (Neumaier 1974). Zeros fill the tree up.
inline void sum_parts(const double* parts, i64 count, i64 length, double* out) {
    std::size_t width = 1;
    while (width < static_cast<std::size_t>(count)) width *= 2;
    std::vector<v8> high(width), rest(width);
    for (i64 at = 0; at < length; at += 8) {
        const i64 some = std::min<i64>(8, length - at);
        for (std::size_t k = 0; k < width; ++k) {
            const double* part = parts + static_cast<i64>(k) * length + at;
            high[k] = static_cast<i64>(k) >= count ? v8{} : some == 8 ? load(part) : load_part(part, some);
            rest[k] = v8{};
        }
        for (std::size_t half = width / 2; half > 0; half /= 2)
            for (std::size_t k = 0; k < half; ++k) {
                const Twofold8 pair = two_sum(high[2 * k], high[2 * k + 1]);
                rest[k] = (rest[2 * k] + rest[2 * k + 1]) + pair.low;
                high[k] = pair.high;
            }
        store_part(out + at, high[0] + rest[0], some);
    }
}
SEPARATRIX_INLINE Twofold8 plus(Twofold8 a, Twofold8 b) {
    const Twofold8 s = two_sum(a.high, b.high);
    return two_sum(s.high, s.low + (a.low + b.low));
}
SEPARATRIX_INLINE Twofold8 minus(Twofold8 a, Twofold8 b) { return plus(a, {v8{} - b.high, v8{} - b.low}); }
SEPARATRIX_INLINE Twofold8 times(v8 a, Twofold8 b) {
    const v8 p = a * b.high;
    return two_sum(p, fused(a, b.low, fused(a, b.high, v8{} - p)));
}
SEPARATRIX_INLINE void accumulate(v8 x, v8 high, v8 low, v8& s, v8& e) {
    const v8 p = x * high, pe = fused(x, high, v8{} - p);
    const v8 t = s + p, b = t - s;
    e += ((s - (t - b)) + (p - b)) + fused(x, low, pe);
    s = t;
}

// x_i . (high + low) of the rows i .. i + 7, each with the bits of dot_twofold
template <class T>
Twofold8 dots_twofold(const Dense<T>& X, i64 i, const double* high, const double* low) {
    constexpr i32 down[8] = {0, 8, 16, 24, 32, 40, 48, 56};
    double sums[64], errors[64];  // row by lane
    for (i64 r = 0; r < 8; ++r) {
        const T* x = X.row(i + r);
        v8 s, e;
        i64 k = 0;
        for (; k + 8 <= X.d; k += 8) accumulate(load(x + k), load(high + k), load(low + k), s, e);
        if (const i64 m = X.d - k) accumulate(load_part(x + k, m), load_part(high + k, m), load_part(low + k, m), s, e);
        store(sums + 8 * r, s), store(errors + 8 * r, e);
    }
    Twofold8 total;
    for (i64 l = 0; l < 8; ++l) total = plus(total, two_sum(picked(sums + l, down), picked(errors + l, down)));
    return total;
}

// The residuals r of the rows i .. i + count - 1, and c r.
template <class Rows>
void residuals_twofold(const Rows& X, i64 i, i64 count, const double* y, const double* weight, const double* high,
                       const double* low, Twofold* r, Twofold* cr) {
    for (i64 t = 0; t < count; ++t) {
        const Twofold s = plus(dot_twofold(X, i + t, high, low), {high[X.d], low[X.d]});
        r[t] = plus(Twofold{y[i + t], 0}, Twofold{-s.high, -s.low});
        cr[t] = times(weight ? weight[i + t] : 1.0, r[t]);
    }
}

template <class T>
void residuals_twofold(const Dense<T>& X, i64 i, i64 count, const double* y, const double* weight, const double* high,
                       const double* low, Twofold* r, Twofold* cr) {
    if (count < 8) return residuals_twofold<Dense<T>>(X, i, count, y, weight, high, low, r, cr);
    const Twofold8 bias{every(high[X.d]), every(low[X.d])};
    const Twofold8 left = minus({load(y + i), {}}, plus(dots_twofold(X, i, high, low), bias));
    const Twofold8 weighted = times(weight ? load(weight + i) : every(1.0), left);
    double own[32];
    store(own, left.high), store(own + 8, left.low), store(own + 16, weighted.high), store(own + 24, weighted.low);
    for (i64 t = 0; t < 8; ++t) r[t] = {own[t], own[8 + t]}, cr[t] = {own[16 + t], own[24 + t]};
}

// high + low += c_t x_{i+t} for `count` rows, one after the other; of eight dense rows the sums stay in registers.
template <class Rows>
void axpys_twofold(const Rows& X, const Twofold* c, i64 i, i64 count, double* high, double* low) {
    for (i64 t = 0; t < count; ++t) axpy_twofold(X, c[t], i + t, high, low);
}

template <class T>
void axpys_twofold(const Dense<T>& X, const Twofold* c, i64 i, i64 count, double* high, double* low) {
    if (count < 8) return axpys_twofold<Dense<T>>(X, c, i, count, high, low);
    i64 k = 0;
    for (; k + 8 <= X.d; k += 8) {
        v8 s = load(high + k), e = load(low + k);
        for (i64 t = 0; t < 8; ++t) accumulate(load(X.row(i + t) + k), every(c[t].high), every(c[t].low), s, e);
        store(high + k, s), store(low + k, e);
    }
    const i64 m = X.d - k;
    if (!m) return;
    v8 s = load_part(high + k, m), e = load_part(low + k, m);
    for (i64 t = 0; t < 8; ++t) accumulate(load_part(X.row(i + t) + k, m), every(c[t].high), every(c[t].low), s, e);
    store_part(high + k, s, m), store_part(low + k, e, m);
}

// The residuals r = y - X w - b of lifted weights high + low, g = sum c_i r_i (x_i, 1), and the sum of
// c_i r_i^2, which is returned. `out` may be null.
template <class Rows>
Twofold residual_gradient(const Rows& X, const double* y, const double* weight, const double* high, const double* low,
                          double* g_high, double* g_low, double* out) {
    Twofold squares{0, 0}, left[8], weighted[8];
    for (i64 i = 0, count; i < X.n; i += count) {
        count = X.n - i < 8 ? X.n - i : 8;
        for (i64 t = 0; t < count && weight; ++t)
            if (weight[i + t] == 0) count = t ? t : 1;  // rows of weight zero come alone
        residuals_twofold(X, i, count, y, weight, high, low, left, weighted);
        for (i64 t = 0; t < count && out; ++t) out[i + t] = left[t].high;
        if (weight && weight[i] == 0) continue;
        axpys_twofold(X, weighted, i, count, g_high, g_low);
        for (i64 t = 0; t < count; ++t) {
            const Twofold r = left[t], cr = weighted[t];
            accumulate(1.0, cr.high, cr.low, g_high[X.d], g_low[X.d]);
            accumulate(r.high, cr.high, cr.low, squares.high, squares.low);
            squares.low += r.low * cr.high;
        }
    }
    for (i64 k = 0; k <= X.d; ++k) {
        const Twofold g = two_sum(g_high[k], g_low[k]);
        g_high[k] = g.high;
        g_low[k] = g.low;
    }
    return two_sum(squares.high, squares.low);
}

// The defects of the augmented system u + A x = y, A' C u = 0 (Bjorck 1967) at twofold u and x, rounded:
// f = y - u - A x and g = -A' C u.
template <class Rows>
void augmented_defects(const Rows& A, const double* y, const double* weight, const double* x_high, const double* x_low,
                       const double* u_high, const double* u_low, double* f, double* g, double* g_low) {
    for (i64 i = 0; i < A.n; ++i) {
        const Twofold u{u_high[i], u_low[i]};
        const Twofold ax = dot_twofold(A, i, x_high, x_low);
        const Twofold left = plus(Twofold{y[i], 0}, Twofold{-u.high, -u.low});
        const Twofold defect = plus(left, {-ax.high, -ax.low});
        f[i] = defect.high + defect.low;
        const Twofold cu = times(weight ? -weight[i] : -1.0, u);
        axpy_twofold(A, cu, i, g, g_low);
    }
    for (i64 k = 0; k < A.d; ++k) g[k] += g_low[k];
}

}  // namespace separatrix
