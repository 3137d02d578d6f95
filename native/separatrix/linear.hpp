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

// |x_i|^2
template <class Rows>
void norms2(const Rows& X, double* out) {
    for (i64 i = 0; i < X.n; ++i) out[i] = X.norm2(i);
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

}  // namespace separatrix
