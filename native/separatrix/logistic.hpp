// The logistic loss of all rows, its gradient and its curvature, in one read of the table.
//
// Rows are taken in blocks that fit the cache: first their scores, then loss, slope and curvature of
// eight rows at a time, then the rows once more for the gradient. With e = exp(-|m|), m = y s,
//   loss = max(-m, 0) + log(1 + e)    1 - P(y|x) = (m < 0 ? 1 : e)/(1 + e)    curvature = e/(1 + e)^2,
// which neither overflows nor cancels. Sums over rows keep their rounding errors aside (Neumaier 1974).
#pragma once
#include <algorithm>
#include <cmath>
#include <vector>

#include "rows.hpp"
#include "twofold.hpp"

namespace separatrix {

typedef double d8 __attribute__((vector_size(64)));
typedef i64 l8 __attribute__((vector_size(64)));

// exp(t) for t <= 0, to about an ulp; 0 below -708. Cody and Waite's (1980) reduction, then Taylor's sum.
inline d8 exp_of_negative(d8 t) {
    constexpr double magic = 6755399441055744.0;  // 1.5 * 2^52: adding it rounds to whole numbers
    const l8 tiny = t < -708.0;
    t = tiny ? d8{} - 708.0 : t;
    const d8 shifted = t * 1.4426950408889634 + magic;
    const d8 k = shifted - magic;
    const d8 r = (t - k * 0.693147180369123816490) - k * 1.90821492927058770002e-10;
    d8 p = d8{} + 1.0 / 6227020800.0;
    constexpr double inverse[] = {1.0 / 479001600, 1.0 / 39916800, 1.0 / 3628800, 1.0 / 362880, 1.0 / 40320, 1.0 / 5040,
                                  1.0 / 720,       1.0 / 120,      1.0 / 24,      1.0 / 6,      0.5,         1.0,
                                  1.0};
    for (double c : inverse) p = p * r + c;
    l8 bits;
    std::memcpy(&bits, &shifted, sizeof bits);
    bits = (bits + 1023) << 52;  // the low bits of `shifted` are k in two's complement
    d8 power;
    std::memcpy(&power, &bits, sizeof power);
    return tiny ? d8{} : p * power;
}

// log(1 + e) for 0 <= e <= 1: 2 artanh(e/(2 + e)).
inline d8 log_of_one_plus(d8 e) {
    const d8 s = e / (e + 2.0), z = s * s;
    d8 p = d8{} + 1.0 / 35;
    for (int k = 33; k >= 1; k -= 2) p = p * z + 1.0 / k;
    return 2.0 * s * p;
}

struct LogisticRow {
    d8 loss, wrong, curvature;  // wrong = 1 - P(y|x)
};

inline LogisticRow logistic_of_margins(d8 m) {
    const d8 size = m < 0.0 ? -m : m;
    const d8 e = exp_of_negative(-size), one = e + 1.0;
    const d8 wrong = (m < 0.0 ? d8{} + 1.0 : e) / one;
    return {(m < 0.0 ? size : d8{}) + log_of_one_plus(e), wrong, e / (one * one)};
}

template <class T>
inline i64 rows_in_cache(const Dense<T>& X) {
    const i64 rows = 32768 / (X.d * static_cast<i64>(sizeof(T)) + 1) / 8 * 8;
    return std::clamp<i64>(rows, 8, 64);
}
template <class T, class I>
inline i64 rows_in_cache(const Csr<T, I>&) {
    return 64;
}

// g += sum over rows begin .. end of r_i x_i
template <class T>
inline void add_rows(const Dense<T>& X, const double* r, i64 begin, i64 end, double* g) {
    i64 i = begin;
    for (; i + 4 <= end; i += 4) {
        const T *x0 = X.row(i), *x1 = X.row(i + 1), *x2 = X.row(i + 2), *x3 = X.row(i + 3);
        const double* c = r + (i - begin);
        const v8 c0 = every(c[0]), c1 = every(c[1]), c2 = every(c[2]), c3 = every(c[3]);
        i64 k = 0;
        for (; k + 8 <= X.d; k += 8)
            store(g + k, load(g + k) + ((c0 * load(x0 + k) + c1 * load(x1 + k)) + (c2 * load(x2 + k) + c3 * load(x3 + k))));
        for (; k < X.d; ++k) g[k] += (c[0] * x0[k] + c[1] * x1[k]) + (c[2] * x2[k] + c[3] * x3[k]);
    }
    for (; i < end; ++i) X.axpy(r[i - begin], i, g);
}
template <class T, class I>
inline void add_rows(const Csr<T, I>& X, const double* r, i64 begin, i64 end, double* g) {
    for (i64 i = begin; i < end; ++i) X.axpy(r[i - begin], i, g);
}

// A vector that is added to in parts, with the rounding errors of the additions kept aside.
class CarefulSum {
   public:
    CarefulSum(double* total, i64 length) : total_(total), part_(static_cast<std::size_t>(length)), rest_(part_.size()) {}
    double* part() { return part_.data(); }
    void close() {
        for (std::size_t k = 0; k < part_.size(); ++k) {
            const Twofold s = two_sum(total_[k], part_[k]);
            total_[k] = s.high;
            rest_[k] += s.low;
            part_[k] = 0;
        }
    }
    void finish() {
        close();
        for (std::size_t k = 0; k < part_.size(); ++k) total_[k] += rest_[k];
    }

   private:
    double* total_;
    std::vector<double> part_, rest_;
};

// Rows between two closings of a CarefulSum, which costs as much as adding a dense row or two.
template <class T>
inline i64 rows_a_part(const Dense<T>&) {
    return 1024;
}
template <class T, class I>
inline i64 rows_a_part(const Csr<T, I>& X) {
    return std::max<i64>(1024, X.d / 2);
}

// Adds rows begin .. end: returns their sum of c_i loss_i, and adds minus sum c_i (1 - P_i) y_i (x_i, 1) to
// `gradient`, which has d + 1 numbers. `curvature` gets c_i times the second derivative, `wrong` 1 - P_i.
template <class Rows>
double logistic_pass(const Rows& X, const i8* y, const double* weight, const double* offset, const double* lifted,
                     i64 begin, i64 end, double* gradient, double* curvature, double* wrong) {
    const i64 block = rows_in_cache(X);
    double m[64], r[64];
    CarefulSum sum(gradient, X.d + 1);
    Twofold loss{0, 0};
    for (i64 at = begin, since = 0; at < end; at += block) {
        const i64 stop = std::min(at + block, end), rows = stop - at;
        for (i64 i = 0; i < rows; ++i) {
            double s = X.dot(at + i, lifted) + lifted[X.d];
            if (offset) s += offset[at + i];
            m[i] = y[at + i] * s;
        }
        for (i64 i = rows; i < (rows + 7) / 8 * 8; ++i) m[i] = 0;
        double part = 0, bias = 0;
        for (i64 i = 0; i < rows; i += 8) {
            d8 margins;
            std::memcpy(&margins, m + i, sizeof margins);
            const LogisticRow row = logistic_of_margins(margins);
            for (i64 l = 0; l < std::min<i64>(8, rows - i); ++l) {
                const i64 j = at + i + l;
                const double c = weight ? weight[j] : 1.0;
                part += c * row.loss[l];
                r[i + l] = -c * row.wrong[l] * y[j];
                bias += r[i + l];
                if (curvature) curvature[j] = c * row.curvature[l];
                if (wrong) wrong[j] = row.wrong[l];
            }
        }
        const Twofold next = two_sum(loss.high, part);
        loss = {next.high, loss.low + next.low};
        add_rows(X, r, at, stop, sum.part());
        sum.part()[X.d] += bias;
        if ((since += rows) >= rows_a_part(X)) sum.close(), since = 0;
    }
    sum.finish();
    return loss.high + loss.low;
}

// out += sum over rows begin .. end of h_i (x_i, 1) (x_i, 1).v
template <class Rows>
void curvature_product(const Rows& X, const double* curvature, const double* v, i64 begin, i64 end, double* out) {
    const i64 block = rows_in_cache(X);
    double r[64];
    CarefulSum sum(out, X.d + 1);
    for (i64 at = begin, since = 0; at < end; at += block) {
        const i64 stop = std::min(at + block, end);
        for (i64 i = at; i < stop; ++i) {
            r[i - at] = curvature[i] * (X.dot(i, v) + v[X.d]);
            sum.part()[X.d] += r[i - at];
        }
        add_rows(X, r, at, stop, sum.part());
        if ((since += stop - at) >= rows_a_part(X)) sum.close(), since = 0;
    }
    sum.finish();
}

// sums += a x_i where it is asked for, squares += a x_i^2
template <class T>
inline void add_powers(const Dense<T>& X, double a, i64 i, double* sums, double* squares) {
    const T* x = X.row(i);
    const v8 c = every(a);
    i64 k = 0;
    for (; k + 8 <= X.d; k += 8) store(squares + k, load(squares + k) + c * (load(x + k) * load(x + k)));
    for (; k < X.d; ++k) squares[k] += a * (static_cast<double>(x[k]) * static_cast<double>(x[k]));
    if (sums) X.axpy(a, i, sums);
}
template <class T, class I>
inline void add_powers(const Csr<T, I>& X, double a, i64 i, double* sums, double* squares) {
    for (I k = X.start[i]; k < X.start[i + 1]; ++k) {
        const double x = static_cast<double>(X.value[k]);
        squares[X.column[k]] += a * (x * x);
        if (sums) sums[X.column[k]] += a * x;
    }
}

// squares += the diagonal of sum over rows begin .. end of h_i (x_i, 1) (x_i, 1)', and where it is asked for
// sums += sum h_i (x_i, 1)
template <class Rows>
void curvature_diagonal(const Rows& X, const double* curvature, i64 begin, i64 end, double* sums, double* squares) {
    for (i64 i = begin; i < end; ++i) {
        add_powers(X, curvature[i], i, sums, squares);
        squares[X.d] += curvature[i];
        if (sums) sums[X.d] += curvature[i];
    }
}

}  // namespace separatrix
