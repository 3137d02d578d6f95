// Kernels k(x, z) of a row with many: linear x.z, polynomial (gamma x.z + c)^degree, and the Gaussian
// exp(-gamma |x - z|^2), by |x|^2 + |z|^2 - 2 x.z, never below zero.
//
// The exponential is our own, so that it has the same bits on every level: x = n ln 2 + r with
// |r| <= ln 2 / 2, a Taylor polynomial of degree 13 in r, and n into the exponent.
#pragma once
#include <bit>
#include <vector>

#include "rows.hpp"

namespace separatrix {

enum class Kind { linear = 0, polynomial = 1, gaussian = 2 };

struct Kernel {
    Kind kind;
    double gamma, coef0;
    i64 degree;
};

// e^x for x <= 0; 0 below -708, where it would leave the normal numbers.
inline double exp_down(double x) {
    constexpr double magic = 6755399441055744.0;  // 1.5 * 2^52: adding it rounds to a whole number
    constexpr double log2e = 1.4426950408889634, ln2_high = 0x1.62e42fefa3800p-1, ln2_low = 0x1.ef35793c76730p-45;
    const double clamped = x > -708.0 ? x : -708.0;
    const double shifted = clamped * log2e + magic;
    const double n = shifted - magic;
    const double r = (clamped - n * ln2_high) - n * ln2_low;
    double p = 1.0 / 6227020800.0;
    p = p * r + 1.0 / 479001600.0;
    p = p * r + 1.0 / 39916800.0;
    p = p * r + 1.0 / 3628800.0;
    p = p * r + 1.0 / 362880.0;
    p = p * r + 1.0 / 40320.0;
    p = p * r + 1.0 / 5040.0;
    p = p * r + 1.0 / 720.0;
    p = p * r + 1.0 / 120.0;
    p = p * r + 1.0 / 24.0;
    p = p * r + 1.0 / 6.0;
    p = p * r + 0.5;
    p = p * r + 1.0;
    p = p * r + 1.0;
    const i64 exponent = std::bit_cast<i64>(shifted) - std::bit_cast<i64>(magic);
    const double scale = std::bit_cast<double>((exponent + 1023) << 52);
    return x < -708.0 ? 0.0 : p * scale;
}

// out[j - begin] = k(x_j, z) for the rows begin .. end of X and a dense z with |z|^2 = z2; norm2 holds |x_j|^2.
template <class Rows>
void kernel_block(const Rows& X, const double* norm2, const Kernel& k, const double* z, double z2, i64 begin, i64 end,
                  double* out) {
    const i64 n = end - begin;
    for (i64 j = 0; j < n; ++j) out[j] = X.dot(begin + j, z);
    if (k.kind == Kind::polynomial) {
        for (i64 j = 0; j < n; ++j) {
            const double base = k.gamma * out[j] + k.coef0;
            double power = base;
            for (i64 e = 1; e < k.degree; ++e) power *= base;
            out[j] = power;
        }
    } else if (k.kind == Kind::gaussian) {
        for (i64 j = 0; j < n; ++j) {
            const double distance2 = (norm2[begin + j] + z2) - 2 * out[j];
            out[j] = exp_down(-k.gamma * (distance2 > 0 ? distance2 : 0.0));
        }
    }
}

template <class Rows>
void kernel_row(const Rows& X, const double* norm2, const Kernel& k, const double* z, double z2, double* out) {
    kernel_block(X, norm2, k, z, z2, 0, X.n, out);
}

template <class T>
inline void spread(const Dense<T>& X, i64 i, std::vector<double>& z) {
    z.assign(X.row(i), X.row(i) + X.d);
}
template <class T, class I>
inline void spread(const Csr<T, I>& X, i64 i, std::vector<double>& z) {
    z.assign(static_cast<std::size_t>(X.d), 0.0);
    for (I k = X.start[i]; k < X.start[i + 1]; ++k) z[static_cast<std::size_t>(X.column[k])] = X.value[k];
}

// out[i, v] = sum over j of a_vj (k(s_j, x_i) + one), in the order of the support rows; `spread_row(i, z)`
// writes row i of n into z.
template <class Support, class SpreadRow>
void kernel_scores(const Support& S, const double* support_norm2, const double* a, i64 vectors, i64 n,
                   SpreadRow&& spread_row, const double* norm2, const Kernel& k, double one, double* out) {
    std::vector<double> z, column(static_cast<std::size_t>(S.n));
    for (i64 i = 0; i < n; ++i) {
        spread_row(i, z);
        kernel_row(S, support_norm2, k, z.data(), norm2[i], column.data());
        for (i64 v = 0; v < vectors; ++v) {
            double s = 0;
            for (i64 j = 0; j < S.n; ++j)
                if (a[v * S.n + j] != 0) s += a[v * S.n + j] * (column[static_cast<std::size_t>(j)] + one);
            out[i * vectors + v] = s;
        }
    }
}

// scores[i] += a_l (k(x_r(l), x_i) + one) for the rows begin .. end and all entries l in turn, where r(l) is
// row[l] of X. The rows of a block stay in the cache while the entries pass by.
template <class Rows>
void kernel_update(const Rows& X, const double* norm2, const Kernel& k, const i64* row, const double* a, i64 entries,
                   double one, i64 begin, i64 end, double* scores) {
    std::vector<double> z, column(static_cast<std::size_t>(end - begin));
    for (i64 l = 0; l < entries; ++l) {
        spread(X, row[l], z);
        kernel_block(X, norm2, k, z.data(), norm2[row[l]], begin, end, column.data());
        for (i64 i = begin; i < end; ++i) scores[i] += a[l] * (column[static_cast<std::size_t>(i - begin)] + one);
    }
}

// The first position from `begin` on whose row is wrong under the scores s; `end` if there is none.
inline i64 first_mistake(const double* s, const i8* y, const i64* order, i64 begin, i64 end, bool zero_is_mistake) {
    for (i64 t = begin; t < end; ++t) {
        const i64 i = order ? order[t] : t;
        if (y[i] == 0) continue;
        const double m = y[i] * s[i];
        if (!(m > 0 || (m == 0 && !zero_is_mistake && y[i] > 0))) return t;
    }
    return end;
}

}  // namespace separatrix
