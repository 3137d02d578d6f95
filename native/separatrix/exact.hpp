// The exact sign of z_i . w for every row, with nothing assumed about sizes.
//
// w may need more than 53 bits: it is given as a sum of K vectors of doubles, the first of which is w
// rounded. A bound on the rounding error decides almost every row (any order of summation: Higham
// 2002, section 3.1); the others are added up without error in a fixed-point number that is wide
// enough for every product of two doubles (Kulisch's long accumulator).
#pragma once
#include <cmath>
#include <stdexcept>

#include "rows.hpp"

namespace separatrix {

class LongAccumulator {
   public:
    void add(double a, double b) {
        if (a == 0 || b == 0) return;
        int ea = 0, eb = 0;
        const i64 ma = mantissa(a, ea), mb = mantissa(b, eb);
        const bool negative = (ma < 0) != (mb < 0);
        const auto wide = static_cast<unsigned __int128>(std::abs(ma)) * static_cast<u64>(std::abs(mb));
        const int at = ea + eb + offset, word = at / 32, shift = at % 32;
        lowest = word < lowest ? word : lowest;
        highest = word + 4 > highest ? word + 4 : highest;
        const u64 low = static_cast<u64>(wide), high = static_cast<u64>(wide >> 64);
        const auto l = static_cast<unsigned __int128>(low) << shift;
        const auto h = static_cast<unsigned __int128>(high) << shift;
        const i64 sign = negative ? -1 : 1;
        limb[word] += sign * static_cast<i64>(l & mask);
        limb[word + 1] += sign * static_cast<i64>((l >> 32) & mask);
        limb[word + 2] += sign * static_cast<i64>(((l >> 64) & mask) + (h & mask));
        limb[word + 3] += sign * static_cast<i64>((h >> 32) & mask);
        limb[word + 4] += sign * static_cast<i64>((h >> 64) & mask);
    }

    // The sign of the sum; the accumulator is zero again afterwards.
    int sign() {
        i64 carry = 0;
        bool nonzero = false;
        for (int k = lowest; k <= highest; ++k) {
            carry += limb[k];
            nonzero = nonzero || (carry & mask) != 0;
            carry >>= 32;  // arithmetic: rounds down
            limb[k] = 0;
        }
        lowest = limbs, highest = -1;
        return carry < 0 ? -1 : (nonzero || carry > 0) ? 1 : 0;
    }

   private:
    static constexpr i64 mask = 0xffffffff;
    static constexpr int limbs = 144, offset = 2260;  // products are multiples of 2^-2252, below 2^2048
    i64 limb[limbs] = {};
    int lowest = limbs, highest = -1;

    static i64 mantissa(double a, int& e) {
        if (!std::isfinite(a)) throw std::domain_error("a sign was asked for of a sum that holds an infinity or NaN");
        const double f = std::frexp(a, &e);
        e -= 53;
        return static_cast<i64>(std::ldexp(f, 53));
    }
};

// Adds x_i . w to s and |x_i| . |w| to size; returns the number of terms.
template <class T>
i64 sized_dot(const Dense<T>& X, i64 i, const double* w, double& s, double& size) {
    const T* r = X.row(i);
    double part[8] = {}, sizes[8] = {};
    i64 k = 0;
    const auto term = [&](i64 j, int l) {
        const double t = static_cast<double>(r[j]) * w[j];
        part[l] += t, sizes[l] += std::fabs(t);
    };
    for (; k + 8 <= X.d; k += 8)
        for (int l = 0; l < 8; ++l) term(k + l, l);
    for (int l = 0; k < X.d; ++k, ++l) term(k, l);
    for (int l = 0; l < 8; ++l) s += part[l], size += sizes[l];
    return X.d;
}
template <class T, class I>
i64 sized_dot(const Csr<T, I>& X, i64 i, const double* w, double& s, double& size) {
    each(X, i, [&](i64 j, double value) { s += value * w[j], size += std::fabs(value * w[j]); });
    return static_cast<i64>(X.start[i + 1] - X.start[i]);
}

// sign[t] = sign of y_i (w . x_i + b), exactly, for the t-th active row (all rows when active is null);
// returns how many rows needed the accumulator.
template <class Rows>
i64 exact_signs(const Rows& X, const i8* y, bool intercept, const double* w, i64 K, const i64* active, i64 m,
                i8* sign) {
    const i64 d = X.d, p = d + (intercept ? 1 : 0);
    double least = HUGE_VAL;
    for (i64 j = 0; j < p; ++j)
        if (w[j] != 0) least = std::fmin(least, std::fabs(w[j]));
    const bool usable = least > 1e-280;  // below, w rounded may be far from w
    const double b = intercept ? w[d] : 0.0;
    LongAccumulator total;
    i64 undecided = 0;
    for (i64 t = 0; t < m; ++t) {
        const i64 i = active ? active[t] : t;
        double s = b, size = std::fabs(b);
        const i64 terms = sized_dot(X, i, w, s, size);
        const double bound = static_cast<double>(terms + 8) * 0x1p-52 * size + 1e-290;
        if (usable && size < 1e290 && std::fabs(s) > bound) {
            sign[t] = static_cast<i8>(s > 0 ? y[i] : -y[i]);
            continue;
        }
        ++undecided;
        for (i64 k = 0; k < K; ++k) {
            const double* part = w + k * p;
            each(X, i, [&](i64 j, double value) { total.add(value, part[j]); });
            if (intercept) total.add(1.0, part[d]);
        }
        sign[t] = static_cast<i8>(total.sign() * y[i]);
    }
    return undecided;
}

// score[i] = w . x_i + b in floating point, and bound[i] >= its distance from the exact value, also when each
// w_j and each x_ij stands for a number within 2^-53 of it; infinite where the bound is of no use.
template <class Rows>
void bounded_scores(const Rows& X, const double* w, double* score, double* bound) {
    for (i64 i = 0; i < X.n; ++i) {
        double s = w[X.d], size = std::fabs(s);
        const i64 terms = sized_dot(X, i, w, s, size);
        score[i] = s;
        bound[i] = size < 1e290 ? static_cast<double>(terms + 8) * 0x1p-52 * size + 1e-290 : HUGE_VAL;
    }
}

}  // namespace separatrix
