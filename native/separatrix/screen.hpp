// Scores in single precision, with a bound on their distance from those in double.
//
// Where only the sign of a score s(x) = sum_l a_l (k(z_l, x) + one) is asked for, half the digits mostly tell it, and
// there are twice as many numbers to a vector. Let u = 2^-24 and m = min(d, 64) + ceil(d / 64), so that a product X.Z
// summed by parts of 64 terms is off by at most m u |X| |Z| (Higham 2002, section 4.2).
//
// Gaussian: rows are moved and scaled to X = sqrt(2 gamma log2 e) (x - c), so that k = 2^T with T = X.Z - A - B,
// A = |X|^2/2 and B = |Z|^2/2, and stored as floats. What is computed of T is off by at most
//   4 u (A + B)  rounding X and Z: T moves by |X - Z| u (|X| + |Z|), and (|X| + |Z|)^2 <= 4 (A + B);
//   m u (A + B)  the product: |X| |Z| <= A + B;
//   4 u (A + B)  rounding A and B, their sum, and the difference;
// and the double that it stands for by (d + 4) 2^-52 gamma log2 e (|x|^2 + |z|^2). Both are sums of a part of the row
// and a part of the entry, say p + q. While p + q <= 1/8, 2^(p + q) - 1 <= 0.75 (p + q), which bounds the relative
// error of k; the exponential adds 8 u.
//
// Powers (x.z and (gamma x.z + c)^degree): X = sqrt(gamma) x. The base b is off by at most
//   (m + 2) u |X| |Z|        the product, and rounding X and Z;
//   2 u (|X| |Z| + |c|)      rounding c and the sum;
// say r; b^degree then by degree (|b| + r)^(degree - 1) r, and by degree u |b|^degree from its products.
//
// Errors of higher order, of subnormal floats, and of the double (of a power) are in the slack: 12 for 8, 8 for 4 and
// 4 for 2 above, 24 and 1.01 below.
#pragma once
#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "dual.hpp"
#include "floats.hpp"

namespace separatrix {

// All rows of a table, as the screen needs them.
class Screen {
   public:
    static constexpr i64 most_entries = 1 << 21;
    i64 n, d;

    template <class T>
    Screen(const Dense<T>& X, const double* norm2, const Kernel& k)
        : n(X.n), d(X.d), kernel(k), x(count(n * d)), size(count(n)), doubt(count(n)) {
        if (k.kind == Kind::linear) kernel.gamma = 1, kernel.coef0 = 0, kernel.degree = 1;
        const bool gaussian = k.kind == Kind::gaussian;
        const std::vector<double> centre = gaussian ? medians(X) : std::vector<double>(count(d));
        const double scale = std::sqrt(gaussian ? 2 * log2e * kernel.gamma : kernel.gamma);
        for (i64 i = 0; i < n; ++i) {
            double length2 = 0;
            float* to = x.data() + i * d;
            for (i64 j = 0; j < d; ++j) {
                to[j] = static_cast<float>(scale * (X.row(i)[j] - centre[count(j)]));
                length2 += static_cast<double>(to[j]) * to[j];
            }
            if (gaussian)
                gaussian_row(i, length2 / 2, norm2[i]);
            else
                power_row(i, std::sqrt(length2));
        }
    }

    // Whether subnormal numbers and overflow stay out of the bounds.
    static bool serves(const Kernel& k) {
        const bool gamma = k.kind == Kind::linear || (k.gamma > 1e-200 && k.gamma < 1e200);
        return gamma && (k.kind != Kind::polynomial || (k.degree <= 64 && std::fabs(k.coef0) < 0x1p60));
    }

    // Rows of a block: they stay in the second-level cache, most of the time in the first.
    i64 block() const {
        const i64 fit = (1 << 17) / (d + 1) / 32 * 32;
        return fit < 32 ? 32 : fit > TurnedRows::most ? TurnedRows::most : fit;
    }

    // Whether the bounds hold with such an entry: its weight, and its kernels with all rows, are neither too large nor
    // too small.
    bool bounded(i64 row, double a) const {
        constexpr double greatest = 0x1p60;
        if (!(std::fabs(a) >= 1 / greatest && std::fabs(a) <= greatest)) return false;
        if (kernel.kind == Kind::gaussian) return doubt[count(row)] <= 1;
        const double base = 1.01 * (longest * size[count(row)] + std::fabs(kernel.coef0));
        return longest < 0x1p40 && std::pow(base, static_cast<double>(kernel.degree)) <= greatest;
    }

    void turn(i64 begin, i64 end, TurnedRows& to) const {
        constexpr i64 span = TurnedRows::span;
        to.d = d, to.groups = (end - begin + span - 1) / span;
        to.x.assign(count(to.groups * d * span), 0.0f);
        for (i64 i = begin; i < end; ++i) {
            const i64 r = i - begin;
            float* column = to.x.data() + r / span * d * span + r % span;
            for (i64 j = 0; j < d; ++j) column[j * span] = x[count(i * d + j)];
            to.size[r] = size[count(i)];
        }
    }

    // Add the entries to what is known of a block of rows: to the score s and the bound e on its distance from the
    // score in double. e covers 2^21 roundings of either score to 2^-53 of everything that was added up.
    void add(const TurnedRows& X, i64 begin, i64 end, const i64* row, const double* a, i64 entries, double one,
             double* s, double* e) const {
        if (kernel.kind == Kind::gaussian)
            return add(X, begin, end, row, a, entries, one, s, e, GaussianTail{});
        const double c = kernel.coef0, error = 4 * u * std::fabs(c) + 0x1p-100 * static_cast<double>(d);
        add(X, begin, end, row, a, entries, one, s, e,
            PowerTail{static_cast<float>(c), static_cast<float>(error), kernel.degree});
    }

   private:
    static constexpr double u = 0x1p-24, log2e = 1.4426950408889634;

    Kernel kernel;
    std::vector<float> x;       // n rows of d
    std::vector<float> size;    // |X|^2/2, or |X|
    std::vector<double> doubt;  // a part of the relative error of kernels with a row; infinite where nothing is known
    double longest = 0;         // the greatest |X|

    static std::size_t count(i64 numbers) { return static_cast<std::size_t>(numbers); }
    double terms() const { return static_cast<double>((d < 64 ? d : 64) + (d + 63) / 64); }

    // Of each column over some rows: any point among them serves, and outliers should not move it.
    template <class T>
    static std::vector<double> medians(const Dense<T>& X) {
        const i64 some = X.n < 63 ? X.n : 63;
        std::vector<double> out(count(X.d)), seen(count(some));
        for (i64 j = 0; j < X.d; ++j) {
            for (i64 t = 0; t < some; ++t) {
                const double x = X.row(t * X.n / some)[j];
                seen[count(t)] = std::isnan(x) ? 0.0 : x;  // NaN has no place in an order
            }
            std::nth_element(seen.begin(), seen.begin() + some / 2, seen.end());
            out[count(j)] = seen[count(some / 2)];
        }
        return out;
    }

    void gaussian_row(i64 i, double half, double norm2) {
        constexpr double far = 1e300;  // beyond, sums of squares may overflow in double
        const double single = (terms() + 12) * u * half;
        const double twice = static_cast<double>(d + 16) * 0x1p-51 * (kernel.gamma * log2e * norm2);
        const bool known = single + twice <= 0.0625 && norm2 < far;
        size[count(i)] = static_cast<float>(half);
        doubt[count(i)] = known ? 0.75 * (single + twice) : std::numeric_limits<double>::infinity();
    }

    void power_row(i64 i, double length) {
        size[count(i)] = static_cast<float>(length);
        doubt[count(i)] = static_cast<double>(kernel.degree) * u;
        longest = std::max(longest, length);
    }

    template <class Tail>
    void add(const TurnedRows& X, i64 begin, i64 end, const i64* row, const double* a, i64 entries, double one,
             double* s, double* e, const Tail& tail) const {
        constexpr i64 together = 6, some = 8 * together;
        constexpr double sums = (some + 24) * u, rounding = 0x1p-30, vanishing = 0x1p-80, slack = 1.01;
        constexpr bool gaussian = std::is_same_v<Tail, GaussianTail>;
        const double entry_size = gaussian ? 1 : (terms() + 8) * u;
        const double doubts = gaussian ? 1 : static_cast<double>(kernel.degree);
        FloatEntry these[some];
        for (i64 from = 0; from < entries; from += some) {
            const i64 m = entries - from < some ? entries - from : some;
            double sum = 0, absolute_sum = 0;
            for (i64 l = 0; l < m; ++l) {
                const std::size_t i = count(row[from + l]);
                const double c = a[from + l], weight = std::fabs(c);
                these[l] = {x.data() + row[from + l] * d, static_cast<float>(entry_size * size[i]), static_cast<float>(c),
                            static_cast<float>(weight), static_cast<float>(weight * doubt[i])};
                sum += c, absolute_sum += weight;
            }
            FloatSums found;
            i64 l = 0;
            for (; l + together <= m; l += together) {
                for (i64 ahead = l + together; ahead < m && ahead < l + 2 * together; ++ahead)
                    for (i64 j = 0; j < d; j += 16) __builtin_prefetch(these[ahead].z + j);
                for (i64 g = 0; g < X.groups; ++g) add_entries<2, together>(X, g, these + l, tail, found);
            }
            for (; l < m; ++l) {
                i64 g = 0;
                for (; g + 4 <= X.groups; g += 4) add_entries<8, 1>(X, g, these + l, tail, found);
                for (; g < X.groups; ++g) add_entries<2, 1>(X, g, these + l, tail, found);
            }
            const double same = (vanishing + rounding * std::fabs(one)) * absolute_sum;
            for (i64 i = begin; i < end; ++i) {
                const i64 r = i - begin;
                s[i] += found.s[r] + one * sum;
                e[i] += slack * ((doubt[count(i)] + sums + rounding) * found.mass[r] + doubts * found.doubt[r]) + same;
            }
        }
    }
};

}  // namespace separatrix
