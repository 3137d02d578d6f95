// The sign of a score in single precision, where rounding cannot have changed it.
//
// A perceptron asks of a score only its sign. Memory gives rows of float32 faster than a processor widens
// their numbers to meet double weights; so float copies of the weights are kept, and a row gives
// s ~ w . x and q ~ |x|^2 in float. No more than N = d/16 + 16 roundings lie on any product's way into
// the sum, that of its weight and those of the double score included, so that with u = 2^-24
//   |s - score| <= N u / (1 - N u) |w| |x|   (Higham 2002, chapter 3; Cauchy & Schwarz)
// whatever the order of the sum. Beyond that reach the sign is that of the double score; within it the
// double score is asked for. A hundredth of slack covers the roundings of |w|, q and the comparison. What
// floats lose of very small numbers is less than the reach of the least |w| and |x| that are reckoned
// with; sums overflow only where q does, because there is no reach for |w| above 2^60.
#pragma once
#include <cmath>
#include <limits>
#include <vector>

#include "rows.hpp"

namespace separatrix {

class Narrow {
   public:
    // Shorter rows are scored in double as fast; for longer ones two copies of the weights crowd the cache.
    static bool serves(i64 d) { return d >= 32 && d <= 512; }

    Narrow(const double* wide, i64 d) : d(d), copies(static_cast<std::size_t>(d / line + 1)) {
        w = copies.front().numbers;
        double norm2 = 0;
        for (i64 k = 0; k < d; ++k) w[k] = static_cast<float>(wide[k]), norm2 += wide[k] * wide[k];
        measure(norm2);
    }

    // m |m| where m = y (w . x + b): beyond `reach` on either side of zero its sign is proved. What is not a
    // number is neither right nor wrong.
    struct Look {
        double size, reach;
        bool right() const { return size > reach; }
        bool wrong() const { return size < -reach; }
    };
    Look look(const float* x, double y, double b) const {
        const auto [s, q] = sums(x);
        const double m = y * (s + b);
        return {m * std::fabs(m), reach2 * (q + least_q)};
    }

    // wide += a x, and the copies with it.
    void axpy(double a, const float* x, double* wide) {
        const v8 c = every(a);
        v8 n0{}, n1{};
        i64 k = 0;
        for (; k + line <= d; k += line) {
            const v8 s = load(wide + k) + c * load(x + k), t = load(wide + k + 8) + c * load(x + k + 8);
            store(wide + k, s);
            store(wide + k + 8, t);
            store(w + k, s, t);
            n0 += s * s;
            n1 += t * t;
        }
        if (k < d) {
            v8 s{}, t{};
            if (k + 8 <= d) {
                s = load(wide + k) + c * load(x + k);
                t = load_part(wide + k + 8, d - k - 8) + c * load_part(x + k + 8, d - k - 8);
                store(wide + k, s);
                store_part(wide + k + 8, t, d - k - 8);
            } else {
                s = load_part(wide + k, d - k) + c * load_part(x + k, d - k);
                store_part(wide + k, s, d - k);
            }
            store(w + k, s, t);  // whole, so that the next look need not wait for it
            n0 += s * s;
            n1 += t * t;
        }
        measure(sum(n0 + n1));
    }

   private:
    static constexpr i64 line = 16;
    struct alignas(64) Line {
        float numbers[line];
    };
    i64 d;
    std::vector<Line> copies;
    float* w;
    double reach2;  // the square of N u |w|
    static constexpr double least_q = 0x1p-100;

    void measure(double norm2) {
        constexpr double least = 0x1p-120, most = 0x1p120;  // of |w|^2
        const double share = 1.01 * 0x1p-24 * (static_cast<double>(d) / 16 + 16);
        reach2 = norm2 <= most ? share * share * (norm2 > least ? norm2 : least)
                               : std::numeric_limits<double>::quiet_NaN();
    }

    struct Sums {
        double s, q;
    };

#if defined(__AVX512F__)
    Sums sums(const float* x) const {
        __m512 s0 = _mm512_setzero_ps(), s1 = s0, q0 = s0, q1 = s0;
        const auto take = [&](__m512 a, __m512 v, __m512& s, __m512& q) {
            s = _mm512_fmadd_ps(a, v, s);
            q = _mm512_fmadd_ps(a, a, q);
        };
        i64 k = 0;
        for (; k + 32 <= d; k += 32) {
            take(_mm512_loadu_ps(x + k), _mm512_loadu_ps(w + k), s0, q0);
            take(_mm512_loadu_ps(x + k + 16), _mm512_loadu_ps(w + k + 16), s1, q1);
        }
        if (k + 16 <= d) take(_mm512_loadu_ps(x + k), _mm512_loadu_ps(w + k), s0, q0), k += 16;
        if (k < d) {
            const __mmask16 some = static_cast<__mmask16>((1u << (d - k)) - 1);
            take(_mm512_maskz_loadu_ps(some, x + k), _mm512_loadu_ps(w + k), s1, q1);
        }
        return {_mm512_reduce_add_ps(_mm512_add_ps(s0, s1)), _mm512_reduce_add_ps(_mm512_add_ps(q0, q1))};
    }
#else
    Sums sums(const float* x) const {
        typedef float some __attribute__((vector_size(64)));
        typedef float some_any __attribute__((vector_size(64), aligned(4), may_alias));
        some s{}, q{};
        i64 k = 0;
        for (; k + 16 <= d; k += 16) {
            const some a = *reinterpret_cast<const some_any*>(x + k);
            s += a * *reinterpret_cast<const some_any*>(w + k);
            q += a * a;
        }
        for (; k < d; ++k) s[k % 16] += x[k] * w[k], q[k % 16] += x[k] * x[k];
        for (int half = 8; half; half /= 2)
            for (int l = 0; l < half; ++l) s[l] += s[l + half], q[l] += q[l + half];
        return {s[0], q[0]};
    }
#endif
};

}  // namespace separatrix
