// The logistic loss of all rows, its gradient and its curvature, in one read of the table.
//
// A few rows at a time: their scores, then loss, slope and curvature, then the rows once more for the gradient,
// while the next few are fetched. With e = exp(-|m|), m = y s,
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

// The widest vectors of the level: wider ones are split by the compiler, but their comparisons number by number.
#if defined(__AVX512F__)
typedef double dw __attribute__((vector_size(64)));
typedef i64 lw __attribute__((vector_size(64)));
#elif defined(__AVX2__)
typedef double dw __attribute__((vector_size(32)));
typedef i64 lw __attribute__((vector_size(32)));
#else
typedef double dw __attribute__((vector_size(16)));
typedef i64 lw __attribute__((vector_size(16)));
#endif

// c_0 + c_1 t + c_2 t^2 + ..., the even and the odd powers side by side: a long chain would be waited for.
template <int terms>
inline dw power_sum(const double (&c)[terms], dw t) {
    static_assert(terms % 2 == 0);
    const dw square = t * t;
    dw even = dw{} + c[terms - 2], odd = dw{} + c[terms - 1];
    for (int k = terms - 4; k >= 0; k -= 2) even = even * square + c[k], odd = odd * square + c[k + 1];
    return even + t * odd;
}

// exp(t) for t <= 0, to about an ulp; 0 below -708. Cody and Waite's (1980) reduction, then Taylor's sum.
inline dw exp_of_negative(dw t) {
    constexpr double magic = 6755399441055744.0;  // 1.5 * 2^52: adding it rounds to whole numbers
    const lw tiny = t < -708.0;
    t = tiny ? dw{} - 708.0 : t;
    const dw shifted = t * 1.4426950408889634 + magic;
    const dw k = shifted - magic;
    const dw r = (t - k * 0.693147180369123816490) - k * 1.90821492927058770002e-10;
    static constexpr double inverse[] = {
        1.0,        1.0,         0.5,          1.0 / 6,       1.0 / 24,       1.0 / 120,       1.0 / 720,
        1.0 / 5040, 1.0 / 40320, 1.0 / 362880, 1.0 / 3628800, 1.0 / 39916800, 1.0 / 479001600, 1.0 / 6227020800.0};
    const dw p = power_sum(inverse, r);
    lw bits;
    std::memcpy(&bits, &shifted, sizeof bits);
    bits = (bits + 1023) << 52;  // the low bits of `shifted` are k in two's complement
    dw power;
    std::memcpy(&power, &bits, sizeof power);
    return tiny ? dw{} : p * power;
}

// log(1 + e) for 0 <= e <= 1: 2 artanh(e/(2 + e)).
inline dw log_of_one_plus(dw e) {
    const dw s = e / (e + 2.0), z = s * s;
    static constexpr double inverse[] = {1.0,      1.0 / 3,  1.0 / 5,  1.0 / 7,  1.0 / 9,  1.0 / 11,
                                         1.0 / 13, 1.0 / 15, 1.0 / 17, 1.0 / 19, 1.0 / 21, 1.0 / 23,
                                         1.0 / 25, 1.0 / 27, 1.0 / 29, 1.0 / 31, 1.0 / 33, 1.0 / 35};
    return 2.0 * s * power_sum(inverse, z);
}

// log(1 + r) for r >= 0: with 1 + r = 2^k m, 1 <= m < 2, it is k log 2 + log m; where k = 0 no digit of r is lost. The
// sum decides, not r: just below r = 1 it rounds to 2, with k = 1.
inline dw log_of_sum(dw r) {
    const dw all = r + 1.0;
    lw bits;
    std::memcpy(&bits, &all, sizeof bits);
    constexpr double whole = 4503599627370496.0;  // 2^52: its low bits take up a whole number
    lw power = ((bits >> 52) - 1023) + 0x4330000000000000, mantissa = (bits & 0xfffffffffffff) | 0x3ff0000000000000;
    dw k, m;
    std::memcpy(&k, &power, sizeof k);
    std::memcpy(&m, &mantissa, sizeof m);
    k -= whole;
    return k * 0.693147180559945309417 + log_of_one_plus(all < 2.0 ? r : m - 1.0);
}

inline d8 plain(v8 a) {
    d8 out;
    std::memcpy(&out, &a, sizeof out);
    return out;
}

inline double sum_of(d8 a) { return ((a[0] + a[4]) + (a[2] + a[6])) + ((a[1] + a[5]) + (a[3] + a[7])); }

struct LogisticRow {
    d8 loss, wrong, curvature;  // wrong = 1 - P(y|x)
};

inline LogisticRow logistic_of_margins(d8 margins) {
    constexpr int count = sizeof(d8) / sizeof(dw);
    dw m[count], loss[count], wrong[count], curvature[count];
    std::memcpy(m, &margins, sizeof m);
    for (int k = 0; k < count; ++k) {
        const lw below = m[k] < 0.0;
        const dw size = below ? -m[k] : m[k];
        const dw e = exp_of_negative(-size), one = e + 1.0;
        loss[k] = (below ? size : dw{}) + log_of_one_plus(e);
        wrong[k] = (below ? dw{} + 1.0 : e) / one;
        curvature[k] = e / (one * one);
    }
    LogisticRow row;
    std::memcpy(&row.loss, loss, sizeof loss);
    std::memcpy(&row.wrong, wrong, sizeof wrong);
    std::memcpy(&row.curvature, curvature, sizeof curvature);
    return row;
}

// The first rows <= 8 numbers of p, zeros behind them.
template <class T>
inline v8 eight(const T* p, i64 rows) {
    return rows == 8 ? load(p) : load_part(p, rows);
}

// w.x_i + b of rows <= 8 rows from `at` on, while the next eight are fetched.
template <class Rows>
inline v8 scores_of(const Rows& X, const double* lifted, i64 at, i64 rows) {
    v8 products[8];
    if (rows == 8)  // a count that is known keeps the products in registers
        for (i64 l = 0; l < 8; ++l) products[l] = X.lanes(at + l, lifted, std::min(at + l + 8, X.n - 1));
    else
        for (i64 l = 0; l < rows; ++l) products[l] = X.lanes(at + l, lifted, std::min(at + l + 8, X.n - 1));
    return sum_each(products) + every(lifted[X.d]);
}

// Rows that are scored before they are added up: sparse ones read and write vectors that may not fit the cache together.
template <class Rows>
constexpr i64 rows_at_once = 64;
template <class T>
constexpr i64 rows_at_once<Dense<T>> = 8;

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
    CarefulSum sum(gradient, X.d + 1);
    Twofold loss{0, 0};
    d8 part{}, bias{};
    constexpr double ones[8] = {1, 1, 1, 1, 1, 1, 1, 1};
    const auto close = [&] {
        const Twofold next = two_sum(loss.high, sum_of(part));
        loss = {next.high, loss.low + next.low};
        sum.part()[X.d] += sum_of(bias);
        part = bias = d8{};
        sum.close();
    };
    constexpr i64 block = rows_at_once<Rows>;
    for (i64 at = begin, since = 0; at < end; at += block) {
        const i64 stop = std::min(at + block, end);
        double slopes[block];
        for (i64 i = at; i < stop; i += 8) {
            const i64 rows = std::min<i64>(8, stop - i);
            v8 score = scores_of(X, lifted, i, rows);
            if (offset) score += eight(offset + i, rows);
            const d8 sign = plain(eight(y + i, rows)), c = plain(eight(weight ? weight + i : ones, rows));
            const LogisticRow row = logistic_of_margins(sign * plain(score));
            const d8 r = -(c * row.wrong * sign), h = c * row.curvature;
            part += c * row.loss;  // rows that are not there have weight zero
            bias += r;
            const std::size_t bytes = static_cast<std::size_t>(rows) * sizeof(double);
            if (curvature) std::memcpy(curvature + i, &h, bytes);
            if (wrong) std::memcpy(wrong + i, &row.wrong, bytes);
            std::memcpy(slopes + (i - at), &r, sizeof r);
        }
        add_rows(X, slopes, at, stop, sum.part());
        if ((since += stop - at) >= rows_a_part(X)) close(), since = 0;
    }
    close();
    sum.finish();
    return loss.high + loss.low;
}

// out += sum over rows begin .. end of h_i (x_i, 1) (x_i, 1).v
template <class Rows>
void curvature_product(const Rows& X, const double* curvature, const double* v, i64 begin, i64 end, double* out) {
    CarefulSum sum(out, X.d + 1);
    constexpr i64 block = rows_at_once<Rows>;
    for (i64 at = begin, since = 0; at < end; at += block) {
        const i64 stop = std::min(at + block, end);
        double slopes[block];
        for (i64 i = at; i < stop; i += 8) {
            const i64 rows = std::min<i64>(8, stop - i);
            const v8 r = eight(curvature + i, rows) * scores_of(X, v, i, rows);
            sum.part()[X.d] += separatrix::sum(r);
            store(slopes + (i - at), r);
        }
        add_rows(X, slopes, at, stop, sum.part());
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

// out_i = 1/(1 + e^s), 1/(1 + e^-s) for each score: the second is the greater where its class is predicted, which is
// the next double above 1/2 for a score of zero that belongs to it, or one that rounds to equal chances.
inline void two_probabilities(const double* scores, i64 n, bool zero_is_second, double* out) {
    constexpr i64 count = sizeof(dw) / sizeof(double);
    for (i64 begin = 0; begin < n; begin += count) {
        const i64 some = std::min(count, n - begin);
        dw s{};
        std::memcpy(&s, scores + begin, static_cast<std::size_t>(some) * sizeof(double));
        dw e = exp_of_negative(s < 0.0 ? s : -s);
        for (i64 k = 0; k < some; ++k)
            if (std::abs(s[k]) > 708.0) e[k] = std::exp(-std::abs(s[k]));  // numbers too small for the fast one
        const dw great = 1.0 / (e + 1.0), small = e * great;
        const dw first = s > 0.0 ? small : great, second = s > 0.0 ? great : small;
        for (i64 k = 0; k < some; ++k) {
            const bool behind = second[k] <= first[k] && (s[k] > 0 || (s[k] == 0 && zero_is_second));
            out[2 * (begin + k)] = first[k];
            out[2 * (begin + k) + 1] = behind ? std::nextafter(first[k], 2.0) : second[k];
        }
    }
}

// Scores of K classes, one class after the other (K, n), plus `shift` of each class, become probabilities. Returns the
// sum of c_i loss_i; where asked for, r_ki = c_i (P_ki - 1[k = y_i]), wrong_i = 1 - P(y_i|x_i) and the loss of each row.
//
// With t_k = s_k - max s and the sum `rest` of exp(t_k) over the other classes, no loss cancels:
// log(1 + rest) where the own score is the greatest, else log(sum) - t_y of two numbers that are not negative.
inline double class_probabilities(const double* scores, const double* shift, const i64* codes, const double* weight,
                                  i64 K, i64 n, double* P, double* R, double* wrong, double* losses) {
    constexpr i64 block = 64, lanes = sizeof(dw) / sizeof(double), vectors = block / lanes;
    std::vector<double> room(static_cast<std::size_t>(K * block + lanes));
    Twofold value{0, 0};
    for (i64 at = 0; at < n; at += block) {
        const i64 rows = std::min(block, n - at);
        const std::size_t bytes = static_cast<std::size_t>(rows) * sizeof(double);
        dw top[vectors], rest[vectors], mine[vectors], own[vectors], code[vectors];
        double numbers[block] = {}, loss[block], less[block];
        for (i64 i = 0; i < rows; ++i) numbers[i] = static_cast<double>(codes[at + i]);
        std::memcpy(code, numbers, sizeof code);
        for (i64 k = 0; k < K; ++k) {
            double* s = room.data() + k * block;
            std::memcpy(s, scores + k * n + at, bytes);
            std::fill(s + rows, s + block, 0.0);
            for (i64 v = 0; v < vectors; ++v) {
                dw t;
                std::memcpy(&t, s + v * lanes, sizeof t);
                t += shift[k];
                std::memcpy(s + v * lanes, &t, sizeof t);
                top[v] = k ? (t > top[v] ? t : top[v]) : t;
            }
        }
        for (i64 v = 0; v < vectors; ++v) rest[v] = mine[v] = own[v] = dw{};
        for (i64 k = 0; k < K; ++k) {
            double* s = room.data() + k * block;
            for (i64 v = 0; v < vectors; ++v) {
                dw t;
                std::memcpy(&t, s + v * lanes, sizeof t);
                t -= top[v];
                const dw e = exp_of_negative(t);
                const lw here = code[v] == static_cast<double>(k);
                rest[v] += here ? dw{} : e;
                own[v] = here ? e : own[v];
                mine[v] = here ? t : mine[v];
                std::memcpy(s + v * lanes, &e, sizeof e);
            }
        }
        for (i64 v = 0; v < vectors; ++v) {
            const dw all = rest[v] + own[v], share = 1.0 / all, others = rest[v] * share;
            const dw surprise = log_of_sum(mine[v] == 0.0 ? rest[v] : all - 1.0) - mine[v];
            std::memcpy(loss + v * lanes, &surprise, sizeof surprise);
            std::memcpy(less + v * lanes, &others, sizeof others);
            std::memcpy(numbers + v * lanes, &share, sizeof share);
        }
        double part = 0;
        for (i64 i = 0; i < rows; ++i) part += (weight ? weight[at + i] : 1.0) * loss[i];
        const Twofold next = two_sum(value.high, part);
        value = {next.high, value.low + next.low};
        for (i64 k = 0; k < K; ++k) {
            double* e = room.data() + k * block;
            for (i64 i = 0; i < block; ++i) e[i] *= numbers[i];
            std::memcpy(P + k * n + at, e, bytes);
            if (!R) continue;
            for (i64 v = 0; v < vectors; ++v) {
                dw p, q;
                std::memcpy(&p, e + v * lanes, sizeof p);
                std::memcpy(&q, less + v * lanes, sizeof q);
                p = code[v] == static_cast<double>(k) ? -q : p;
                std::memcpy(e + v * lanes, &p, sizeof p);
            }
            if (weight)
                for (i64 i = 0; i < rows; ++i) e[i] *= weight[at + i];
            std::memcpy(R + k * n + at, e, bytes);
        }
        if (wrong) std::memcpy(wrong + at, less, bytes);
        if (losses) std::memcpy(losses + at, loss, bytes);
    }
    return value.high + value.low;
}

// Whether a number of x_i is farther from zero than the limit of its column.
template <class T>
inline bool above(const Dense<T>& X, i64 i, const double* limit) {
    const T* x = X.row(i);
    bool found = false;
    for (i64 k = 0; k < X.d; ++k) found |= std::abs(static_cast<double>(x[k])) > limit[k];
    return found;
}
template <class T, class I>
inline bool above(const Csr<T, I>& X, i64 i, const double* limit) {
    bool found = false;
    for (I k = X.start[i]; k < X.start[i + 1]; ++k) found |= std::abs(static_cast<double>(X.value[k])) > limit[X.column[k]];
    return found;
}

// out_i = 1 for each such row, 0 for the others
template <class Rows>
void rows_above(const Rows& X, const double* limit, i8* out) {
    for (i64 i = 0; i < X.n; ++i) out[i] = above(X, i, limit);
}

}  // namespace separatrix
