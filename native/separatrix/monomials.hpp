// Products of features, row by row: what a polynomial map makes of dense rows.
#pragma once
#include <algorithm>

#include "lanes.hpp"

namespace separatrix {

// The columns place .. place + length - 1 are the columns lower .. lower + length - 1, made before, times feature j.
struct Product {
    i64 j, lower, length, place;
};

template <class T>
void monomials(const T* X, i64 n, i64 d, const Product* products, i64 count, i64 width, T* out) {
    for (i64 i = 0; i < n; ++i, X += d, out += width) {
        std::copy(X, X + d, out);
        for (const Product* p = products; p < products + count; ++p) {
            const T factor = X[p->j], *lower = p->lower + p->length <= d ? X + p->lower : out + p->lower;
            T* made = out + p->place;
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC ivdep
#endif
            for (i64 t = 0; t < p->length; ++t) made[t] = lower[t] * factor;
        }
    }
}

}  // namespace separatrix
