// Twofold precision from doubles alone: sums and products with their rounding errors.
//
// two_sum (Knuth 1969) and two_product by a fused multiply-add, which is exact on every machine, give
// the error of an operation as a double. A sum of products that carries the errors along in a second
// double is as good as if it had been computed in twice the precision and then rounded (Ogita, Rump and
// Oishi 2005). A number known to that precision is a pair high + low.
#pragma once
#include <cmath>

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

// The residuals r = y - X w - b of lifted weights high + low, g = sum c_i r_i (x_i, 1), and the sum of
// c_i r_i^2, which is returned. `out` may be null.
template <class Rows>
Twofold residual_gradient(const Rows& X, const double* y, const double* weight, const double* high, const double* low,
                          double* g_high, double* g_low, double* out) {
    Twofold squares{0, 0};
    for (i64 i = 0; i < X.n; ++i) {
        const double c = weight ? weight[i] : 1.0;
        const Twofold s = plus(dot_twofold(X, i, high, low), {high[X.d], low[X.d]});
        const Twofold r = plus({y[i], 0}, {-s.high, -s.low});
        if (out) out[i] = r.high;
        if (c == 0) continue;
        const Twofold cr = times(c, r);
        axpy_twofold(X, cr, i, g_high, g_low);
        accumulate(1.0, cr.high, cr.low, g_high[X.d], g_low[X.d]);
        accumulate(r.high, cr.high, cr.low, squares.high, squares.low);
        squares.low += r.low * cr.high;
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
        const Twofold left = plus({y[i], 0}, {-u.high, -u.low});
        const Twofold defect = plus(left, {-ax.high, -ax.low});
        f[i] = defect.high + defect.low;
        const Twofold cu = times(weight ? -weight[i] : -1.0, u);
        axpy_twofold(A, cu, i, g, g_low);
    }
    for (i64 k = 0; k < A.d; ++k) g[k] += g_low[k];
}

}  // namespace separatrix
