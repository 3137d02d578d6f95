// Gaussian kernels in single precision, with a bound on how far sums of them are from those in double.
//
// Where only the sign of a score s(x) = sum_l a_l (k(z_l, x) + one) is asked for, half the digits mostly tell it, and
// there are twice as many numbers to a vector. No bits are promised here, so products may be fused with sums.
//
// Rows are centred and scaled to X = sqrt(2 gamma log2 e) (x - c), so that k = 2^T with T = X.Z - |X|^2/2 - |Z|^2/2,
// and stored as floats. With u = 2^-24, A = |X|^2/2 and B = |Z|^2/2 what is computed of T is off by at most
//   4 u (A + B)  rounding X and Z: T moves by |X - Z| u (|X| + |Z|), and (|X| + |Z|)^2 <= 4 (A + B);
//   m u (A + B)  the product, by parts of 64 terms: m = min(d, 64) + ceil(d / 64) (Higham 2002, section 4.2);
//   4 u (A + B)  rounding A and B, their sum, and the difference;
// and the double that it stands for by (d + 4) 2^-52 gamma log2 e (|x|^2 + |z|^2). Both are sums of a part of the row
// and a part of the entry, say p + q. While p + q <= 1/8, 2^(p + q) - 1 <= 0.75 (p + q), which bounds the relative
// error of k; the exponential adds 8 u. Smaller errors of higher order are in the slack: 12 for 8 above, 24 and 1.01
// below.
#pragma once
#include <algorithm>
#include <cmath>
#include <limits>

#include "dual.hpp"

namespace separatrix {

#if defined(__AVX512F__)
constexpr int floats = 16;
#elif defined(__AVX2__)
constexpr int floats = 8;
#else
constexpr int floats = 4;
#endif
typedef float vf __attribute__((vector_size(4 * floats)));
typedef float vf_any __attribute__((vector_size(4 * floats), aligned(4), may_alias));
typedef i32 vi __attribute__((vector_size(4 * floats)));

inline vf load_floats(const float* p) { return *reinterpret_cast<const vf_any*>(p); }
inline void store_floats(float* p, vf s) { *reinterpret_cast<vf_any*>(p) = s; }
inline vf all(float s) { return s - vf{}; }

// a b + c, rounded once where the level can.
inline vf fused(vf a, vf b, vf c) {
#if defined(__AVX512F__)
    return (vf)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c);
#elif defined(__AVX2__)
    return (vf)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c);
#else
    return a * b + c;
#endif
}

// 2^t for t <= 1, to a relative 8 u; 2^-126 for all t below -126. The polynomial has a relative error of 1.82 u on
// [-1/2, 1/2] (least maximum, with p(0) = 1).
inline vf exp2_down(vf t) {
    const vf magic = all(12582912.0f), low = all(-126.0f);  // 1.5 * 2^23: adding it rounds to a whole number
    t = t > low ? t : low;
    const vf shifted = t + magic, f = t - (shifted - magic);
    vf p = all(0x1.5bba14p-10f);
    p = fused(p, f, all(0x1.3cea88p-7f));
    p = fused(p, f, all(0x1.c6b752p-5f));
    p = fused(p, f, all(0x1.ebf9bcp-3f));
    p = fused(p, f, all(0x1.62e42ap-1f));
    p = fused(p, f, all(1.0f));
    return (vf)((vi)p + ((vi)shifted << 23));
}

// A block of rows turned round: groups of `span` rows, and in a group number k of each row side by side.
struct TurnedRows {
    static constexpr int span = 2 * floats;
    static constexpr i64 most = 128;  // rows of a block
    i64 d = 0, groups = 0;
    std::vector<float> x;
    float half[most] = {};

    const float* group(i64 g) const { return x.data() + g * d * span; }
};

// What a block has of some entries, in single precision: sums of a k, |a| k, and |a| q k.
struct FloatSums {
    float s[TurnedRows::most] = {}, mass[TurnedRows::most] = {}, doubt[TurnedRows::most] = {};
};

// An entry, where its row lies in single precision.
struct FloatEntry {
    const float* z;
    float half, a, size, doubt;
};

// Add `count` entries to the rows of V / 2 groups from g on.
template <int V, int count>
void add_entries(const TurnedRows& X, i64 g, const FloatEntry* e, FloatSums& sums) {
    constexpr i64 part = 64;
    const i64 d = X.d;
    const float* x = X.group(g);
    const float* z[count];
    for (int l = 0; l < count; ++l) z[l] = e[l].z;
    vf dot[count][V] = {};
    for (i64 from = 0; from < d; from += part) {
        const i64 to = d - from < part ? d : from + part;
        vf s[count][V] = {};
        for (i64 k = from; k < to; ++k) {
            vf c[V];
            for (int v = 0; v < V; ++v) c[v] = load_floats(x + (v / 2 * d + k) * X.span + v % 2 * floats);
            for (int l = 0; l < count; ++l) {
                const vf b = all(z[l][k]);
                for (int v = 0; v < V; ++v) s[l][v] = fused(b, c[v], s[l][v]);
            }
        }
        for (int l = 0; l < count; ++l)
            for (int v = 0; v < V; ++v) dot[l][v] += s[l][v];
    }
    for (int v = 0; v < V; ++v) {
        const i64 at = g * X.span + v * floats;
        const vf half = load_floats(X.half + at);
        vf s = load_floats(sums.s + at), mass = load_floats(sums.mass + at), doubt = load_floats(sums.doubt + at);
        for (int l = 0; l < count; ++l) {
            const vf k = exp2_down(dot[l][v] - (half + e[l].half));
            s = fused(k, all(e[l].a), s);
            mass = fused(k, all(e[l].size), mass);
            doubt = fused(k, all(e[l].doubt), doubt);
        }
        store_floats(sums.s + at, s);
        store_floats(sums.mass + at, mass);
        store_floats(sums.doubt + at, doubt);
    }
}

// All rows of a table, as the screen needs them.
class Screen {
   public:
    // More entries than this, or weights beyond these, leave the bounds.
    static constexpr i64 most_entries = 1 << 21;
    static constexpr double least_weight = 0x1p-60, greatest_weight = 0x1p60;
    i64 n, d;
    std::vector<double> doubt;  // 0.75 p of each row: infinite where nothing is known

    template <class T>
    Screen(const Dense<T>& X, const double* norm2, double gamma)
        : n(X.n), d(X.d), doubt(size(n)), x(size(n * d)), half(size(n)) {
        constexpr double u = 0x1p-24, log2e = 1.4426950408889634, infinity = std::numeric_limits<double>::infinity();
        constexpr double far = 1e300;  // beyond, sums of squares may overflow in double
        const std::vector<double> centre = medians(X);
        const double scale = std::sqrt(2 * gamma * log2e), terms = static_cast<double>((d < 64 ? d : 64) + (d + 63) / 64);
        for (i64 i = 0; i < n; ++i) {
            double length2 = 0;
            float* to = x.data() + i * d;
            for (i64 k = 0; k < d; ++k) {
                to[k] = static_cast<float>(scale * (X.row(i)[k] - centre[size(k)]));
                length2 += static_cast<double>(to[k]) * to[k];
            }
            half[size(i)] = static_cast<float>(length2 / 2);
            const double single = (terms + 12) * u * (length2 / 2);
            const double twice = static_cast<double>(d + 16) * 0x1p-51 * (gamma * log2e * norm2[i]);
            doubt[size(i)] = single + twice <= 0.0625 && norm2[i] < far ? 0.75 * (single + twice) : infinity;
        }
    }

    // Subnormal numbers and overflow stay out of the bounds for these.
    static bool serves(const Kernel& k) { return k.kind == Kind::gaussian && k.gamma > 1e-200 && k.gamma < 1e200; }

    // Rows of a block: they stay in the second-level cache, most of the time in the first.
    i64 block() const {
        const i64 fit = (1 << 17) / (d + 1) / 32 * 32;
        return fit < 32 ? 32 : fit > TurnedRows::most ? TurnedRows::most : fit;
    }

    bool bounded(i64 row, double a) const {
        const double weight = std::fabs(a);
        return doubt[size(row)] <= 1 && weight >= least_weight && weight <= greatest_weight;
    }

    void turn(i64 begin, i64 end, TurnedRows& to) const {
        constexpr i64 span = TurnedRows::span;
        to.d = d, to.groups = (end - begin + span - 1) / span;
        to.x.assign(size(to.groups * d * span), 0.0f);
        for (i64 i = begin; i < end; ++i) {
            const i64 r = i - begin;
            float* column = to.x.data() + r / span * d * span + r % span;
            for (i64 k = 0; k < d; ++k) column[k * span] = x[size(i * d + k)];
            to.half[r] = half[size(i)];
        }
    }

    // Add the entries to what is known of a block of rows: to the score s and the bound e on its distance from the
    // score in double. e covers 2^21 roundings of either score to 2^-53 of everything that was added up.
    void add(const TurnedRows& X, i64 begin, i64 end, const i64* row, const double* a, i64 entries, double one,
             double* s, double* e) const {
        constexpr i64 together = 6, some = 8 * together;
        constexpr double sums = (some + 24) * 0x1p-24, rounding = 0x1p-30, vanishing = 0x1p-80, slack = 1.01;
        FloatEntry these[some];
        for (i64 from = 0; from < entries; from += some) {
            const i64 m = entries - from < some ? entries - from : some;
            double weight = 0, size_ = 0;
            for (i64 l = 0; l < m; ++l) {
                const i64 i = row[from + l];
                const double c = a[from + l], absolute = std::fabs(c);
                these[l] = {x.data() + i * d, half[size(i)], static_cast<float>(c), static_cast<float>(absolute),
                            static_cast<float>(absolute * doubt[size(i)])};
                weight += c, size_ += absolute;
            }
            FloatSums found;
            i64 l = 0;
            for (; l + together <= m; l += together) {
                for (i64 ahead = l + together; ahead < m && ahead < l + 2 * together; ++ahead)
                    for (i64 k = 0; k < d; k += 16) __builtin_prefetch(these[ahead].z + k);
                for (i64 g = 0; g < X.groups; ++g) add_entries<2, together>(X, g, these + l, found);
            }
            for (; l < m; ++l) {
                i64 g = 0;
                for (; g + 4 <= X.groups; g += 4) add_entries<8, 1>(X, g, these + l, found);
                for (; g < X.groups; ++g) add_entries<2, 1>(X, g, these + l, found);
            }
            const double same = (vanishing + rounding * std::fabs(one)) * size_;
            for (i64 i = begin; i < end; ++i) {
                const i64 r = i - begin;
                s[i] += found.s[r] + one * weight;
                e[i] += slack * ((doubt[size(i)] + sums + rounding) * found.mass[r] + found.doubt[r]) + same;
            }
        }
    }

   private:
    static std::size_t size(i64 count) { return static_cast<std::size_t>(count); }

    // Of each column over some rows: any point among them serves, and outliers should not move it.
    template <class T>
    static std::vector<double> medians(const Dense<T>& X) {
        const i64 some = X.n < 63 ? X.n : 63;
        std::vector<double> out(size(X.d)), seen(size(some));
        for (i64 k = 0; k < X.d; ++k) {
            for (i64 t = 0; t < some; ++t) seen[size(t)] = X.row(t * X.n / some)[k];
            std::nth_element(seen.begin(), seen.begin() + some / 2, seen.end());
            out[size(k)] = seen[size(some / 2)];
        }
        return out;
    }

    std::vector<float> x;     // n rows of d
    std::vector<float> half;  // |X|^2 / 2
};

}  // namespace separatrix
