// What every linear predictor asks of its rows: scores, norms, and the first number that is none.
#pragma once
#include <cmath>

#include "rows.hpp"

namespace separatrix {

// s_i = w . x_i + b, with w and then b in `lifted`.
template <class Rows>
void scores(const Rows& X, const double* lifted, double* s) {
    for (i64 i = 0; i < X.n; ++i) s[i] = X.dot(i, lifted) + lifted[X.d];
}

// Scores of K vectors: row i of s holds s_ik = w_k . x_i + b_k. Where `model` is given, those are the vectors
// model[i] K .. model[i] K + K - 1 of coef.
template <class Rows>
void class_scores(const Rows& X, const double* coef, const double* intercept, i64 K, const i64* model, double* s) {
    for (i64 i = 0; i < X.n; ++i) {
        const i64 first = model ? model[i] * K : 0;
        for (i64 k = 0; k < K; ++k) s[i * K + k] = X.dot(i, coef + (first + k) * X.d) + intercept[first + k];
    }
}

// |x_i|^2
template <class Rows>
void norms2(const Rows& X, double* out) {
    for (i64 i = 0; i < X.n; ++i) out[i] = X.norm2(i);
}

// Where the first infinity or NaN among m numbers stands, -1 if there is none: 0 x is zero unless x is one.
template <class T>
i64 first_nonfinite(const T* x, i64 m) {
    constexpr i64 block = 4096;
    for (i64 from = 0; from < m; from += block) {
        const i64 to = from + block < m ? from + block : m;
        v8 zero{};
        i64 k = from;
        for (; k + 8 <= to; k += 8) zero += load(x + k) * every(0.0);
        bool clean = sum(zero) == 0;
        for (; k < to; ++k) clean &= std::isfinite(x[k]);
        if (clean) continue;
        for (k = from; k < to; ++k)
            if (!std::isfinite(x[k])) return k;
    }
    return -1;
}

// Whether label y is wrong for the score s; zero by the tie rule, a score that is not a number always.
inline bool is_wrong(i8 y, double s, bool zero_is_mistake) {
    const double m = y * s;
    return !(m > 0 || (m == 0 && !zero_is_mistake && y > 0));
}

// How many rows are wrong; y = 0 does not count.
template <class Rows>
i64 errors(const Rows& X, const i8* y, const double* lifted, bool zero_is_mistake) {
    i64 wrong = 0;
    for (i64 i = 0; i < X.n; ++i) {
        if (y[i] == 0) continue;
        wrong += is_wrong(y[i], X.dot(i, lifted) + lifted[X.d], zero_is_mistake);
    }
    return wrong;
}

// How many rows of class code[i] >= 0 have not the greatest of K scores; a tie is lost, or goes to the first.
template <class Rows>
i64 class_errors(const Rows& X, const i64* code, const double* lifted, i64 K, bool tie_is_mistake) {
    i64 wrong = 0;
    for (i64 i = 0; i < X.n; ++i) {
        if (code[i] < 0) continue;
        const auto score = [&](i64 k) { return X.dot(i, lifted + k * (X.d + 1)) + lifted[k * (X.d + 1) + X.d]; };
        const double own = score(code[i]);
        bool right = true;
        for (i64 k = 0; k < K && right; ++k) {
            if (k == code[i]) continue;
            const double other = score(k);
            right = k < code[i] || tie_is_mistake ? own > other : own >= other;
        }
        wrong += !right;
    }
    return wrong;
}

}  // namespace separatrix
