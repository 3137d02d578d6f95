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

// From products out[j] = x_j . z to kernels, for n rows of squared lengths norm2 and a z with |z|^2 = z2.
inline void kernels_of(const Kernel& k, const double* norm2, double z2, i64 n, double* out) {
    if (k.kind == Kind::polynomial) {
        for (i64 j = 0; j < n; ++j) {
            const double base = k.gamma * out[j] + k.coef0;
            double power = base;
            for (i64 e = 1; e < k.degree; ++e) power *= base;
            out[j] = power;
        }
    } else if (k.kind == Kind::gaussian) {
        for (i64 j = 0; j < n; ++j) {
            const double distance2 = (norm2[j] + z2) - 2 * out[j];
            out[j] = exp_down(-k.gamma * (distance2 > 0 ? distance2 : 0.0));
        }
    }
}

// out[j - begin] = k(x_j, z) for the rows begin .. end of X and a dense z.
template <class Rows>
void kernel_block(const Rows& X, const double* norm2, const Kernel& k, const double* z, double z2, i64 begin, i64 end,
                  double* out) {
    for (i64 j = begin; j < end; ++j) out[j - begin] = X.dot(j, z);
    kernels_of(k, norm2 + begin, z2, end - begin, out);
}

template <class Rows>
void kernel_row(const Rows& X, const double* norm2, const Kernel& k, const double* z, double z2, double* out) {
    kernel_block(X, norm2, k, z, z2, 0, X.n, out);
}

template <class T>
inline void spread(const Dense<T>& X, i64 i, double* z) {
    for (i64 k = 0; k < X.d; ++k) z[k] = X.row(i)[k];
}
template <class T, class I>
inline void spread(const Csr<T, I>& X, i64 i, double* z) {
    for (i64 k = 0; k < X.d; ++k) z[k] = 0;
    for (I k = X.start[i]; k < X.start[i + 1]; ++k) z[X.column[k]] = X.value[k];
}

// Dense rows side by side, each filled up with zeros to whole vectors.
struct Packed {
    i64 d, width;
    std::vector<double> x;

    Packed(i64 d, i64 rows) : d(d), width((d + 7) / 8 * 8), x(static_cast<std::size_t>(width * rows)) {}
    double* row(i64 r) { return x.data() + r * width; }

    // out[0 .. 7] = the rows r .. r + 7 times z, which is filled up too: the sums of Dense::dot, to the bit.
    void eight(i64 r, const double* z, double* out) {
        v8 s[8];
        for (int q = 0; q < 8; q += together) some(row(r + q), z, s + q);
        store(out, sum_each(s));
    }

   private:
#if defined(__AVX512F__)
    static constexpr int together = 4;  // rows that share what is loaded of z, in registers
#else
    static constexpr int together = 1;
#endif

    void some(const double* x0, const double* z, v8* out) const {
        v8 s0[together], s1[together], s2[together], s3[together];
        i64 k = 0;
        const auto next = [&](v8* s) {
            const v8 w = load(z + k);
            for (int r = 0; r < together; ++r) s[r] += load(x0 + r * width + k) * w;
            k += 8;
        };
        while (k + 32 <= width) next(s0), next(s1), next(s2), next(s3);
        if (k + 8 <= d) next(s0);
        if (k + 8 <= d) next(s1);
        if (k + 8 <= d) next(s2);
        if (k < d) next(s3);
        for (int r = 0; r < together; ++r) out[r] = (s0[r] + s1[r]) + (s2[r] + s3[r]);
    }
};

// Kernels of n rows with all entries in turn: take(l, i, m, column) is given those of entry l with the rows
// i .. i + m. `row(i, z)` and `entry(l, z)` write them dense. A few rows stay in the first-level cache while some
// entries pass by, and a block of rows and those entries in the second.
template <class Row, class Entry, class EntryNorm2, class Take>
void kernel_tiles(i64 d, i64 n, Row&& row, const double* norm2, i64 entries, Entry&& entry, EntryNorm2&& entry_norm2,
                  const Kernel& k, Take&& take) {
    constexpr i64 near = 32, numbers = 1 << 15;
    const i64 fit = numbers / (d + 1) / near * near;
    const i64 block = fit < near ? near : fit > 1024 ? 1024 : fit, some = fit < near ? near : fit > 128 ? 128 : fit;
    Packed X(d, block), Z(d, some);
    double column[near];
    for (i64 begin = 0; begin < n; begin += block) {
        const i64 rows = n - begin < block ? n - begin : block;
        for (i64 r = 0; r < rows; ++r) row(begin + r, X.row(r));
        for (i64 from = 0; from < entries; from += some) {
            const i64 these = entries - from < some ? entries - from : some;
            for (i64 l = 0; l < these; ++l) entry(from + l, Z.row(l));
            for (i64 t = 0; t < rows; t += near) {
                const i64 m = rows - t < near ? rows - t : near;
                for (i64 l = 0; l < these; ++l) {
                    for (i64 r = 0; r < m; r += 8) X.eight(t + r, Z.row(l), column + r);
                    kernels_of(k, norm2 + begin + t, entry_norm2(from + l), m, column);
                    take(from + l, begin + t, m, column);
                }
            }
        }
    }
}

// out[i, v] = sum over j of a_vj (k(s_j, x_i) + one), in the order of the support rows; `spread_row(i, z)`
// writes row i of n into z.
template <class T, class SpreadRow>
void kernel_scores(const Dense<T>& S, const double* support_norm2, const double* a, i64 vectors, i64 n,
                   SpreadRow&& spread_row, const double* norm2, const Kernel& k, double one, double* out) {
    for (i64 t = 0; t < n * vectors; ++t) out[t] = 0;
    kernel_tiles(
        S.d, n, spread_row, norm2, S.n, [&](i64 l, double* z) { spread(S, l, z); },
        [&](i64 l) { return support_norm2[l]; }, k, [&](i64 l, i64 i, i64 m, const double* column) {
            for (i64 v = 0; v < vectors; ++v) {
                const double c = a[v * S.n + l];
                if (c == 0) continue;
                double* s = out + i * vectors + v;
                if (vectors == 1)
                    for (i64 r = 0; r < m; ++r) s[r] += c * (column[r] + one);
                else
                    for (i64 r = 0; r < m; ++r) s[r * vectors] += c * (column[r] + one);
            }
        });
}

template <class T, class I, class SpreadRow>
void kernel_scores(const Csr<T, I>& S, const double* support_norm2, const double* a, i64 vectors, i64 n,
                   SpreadRow&& spread_row, const double* norm2, const Kernel& k, double one, double* out) {
    std::vector<double> z(static_cast<std::size_t>(S.d)), column(static_cast<std::size_t>(S.n));
    for (i64 i = 0; i < n; ++i) {
        spread_row(i, z.data());
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
// row[l] of X.
template <class Rows>
void kernel_update(const Rows& X, const double* norm2, const Kernel& k, const i64* row, const double* a, i64 entries,
                   double one, i64 begin, i64 end, double* scores) {
    constexpr i64 few = 4;  // entries for which rows are not worth packing
    if constexpr (requires { X.x; })
        if (entries >= few) {
            kernel_tiles(
                X.d, end - begin, [&](i64 i, double* z) { spread(X, begin + i, z); }, norm2 + begin, entries,
                [&](i64 l, double* z) { spread(X, row[l], z); }, [&](i64 l) { return norm2[row[l]]; }, k,
                [&](i64 l, i64 i, i64 m, const double* column) {
                    for (i64 r = 0; r < m; ++r) scores[begin + i + r] += a[l] * (column[r] + one);
                });
            return;
        }
    std::vector<double> z(static_cast<std::size_t>(X.d)), column(static_cast<std::size_t>(end - begin));
    for (i64 l = 0; l < entries; ++l) {
        spread(X, row[l], z.data());
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
