// Products of features, row by row: what a polynomial map makes of dense rows, and of sparse ones for degree 2.
#pragma once
#include <algorithm>

#include "rows.hpp"

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
            SEPARATRIX_INDEPENDENT
            for (i64 t = 0; t < p->length; ++t) made[t] = lower[t] * factor;
        }
    }
}

// How many numbers the rows and their products of two store.
template <class T, class I>
i64 stored_pairs(const Csr<T, I>& X, bool squares) {
    i64 numbers = 0;
    for (i64 i = 0; i < X.n; ++i) {
        const i64 q = static_cast<i64>(X.start[i + 1] - X.start[i]);
        numbers += q + q * (squares ? q + 1 : q - 1) / 2;
    }
    return numbers;
}

// The stored numbers of each row, then their products of two: that of columns j <= k is in column offset[j] + k.
template <class T, class I>
void pair_products(const Csr<T, I>& X, const i64* offset, bool squares, i32* column, T* value) {
    for (i64 i = 0; i < X.n; ++i) {
        const I begin = X.start[i], end = X.start[i + 1];
        for (I a = begin; a < end; ++a) *column++ = static_cast<i32>(X.column[a]), *value++ = X.value[a];
        for (I a = begin; a < end; ++a) {
            const i64 from = offset[X.column[a]];
            for (I b = squares ? a : a + 1; b < end; ++b)
                *column++ = static_cast<i32>(from + X.column[b]), *value++ = X.value[a] * X.value[b];
        }
    }
}

}  // namespace separatrix
