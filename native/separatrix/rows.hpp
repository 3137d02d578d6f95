// The rows of a table: dense (C order) and sparse (CSR) give the kernels the same verbs,
//   dot(i, w)      x_i . w, and dot(i, w, next) while x_next is fetched
//   axpy(a, i, w)  w += a x_i
//   norm2(i)       |x_i|^2
//   prefetch(i)    x_i will be wanted soon, ahead() rows before it is
//   each(X, i, f)  f(column, value) for the entries of x_i
// for float64 and float32 values. Weights and sums are always double: float32 values are exact
// doubles, so a float32 table gives the same model as its float64 copy.
#pragma once
#include "lanes.hpp"

namespace separatrix {

// Ask for a line of memory in the second-level cache: the queue into the first is short, and rows out
// of order that wait in it take twice as long (three times where they are short).
inline void bring_nearer(const void* p) { __builtin_prefetch(p, 0, 2); }

template <class T>
struct Dense {
    const T* x;
    i64 n, d;

    const T* row(i64 i) const { return x + i * d; }

    double dot(i64 i, const double* w) const { return sum(products<false>(row(i), w, nullptr)); }

    // The same sum, while row `next` is brought nearer line by line.
    double dot(i64 i, const double* w, i64 next) const { return sum(products<true>(row(i), w, row(next))); }

    // The lanes of that sum, for several rows to be added up together.
    SEPARATRIX_INLINE v8 lanes(i64 i, const double* w, i64 next) const { return products<true>(row(i), w, row(next)); }

    void axpy(double a, i64 i, double* w) const {
        const T* r = row(i);
        const v8 c = every(a);
        i64 k = 0;
        for (; k + 8 <= d; k += 8) store(w + k, load(w + k) + c * load(r + k));
        if (k < d) store_part(w + k, load_part(w + k, d - k) + c * load_part(r + k, d - k), d - k);
    }

    double norm2(i64 i) const { return sum(products<false>(row(i), row(i), nullptr)); }

    // Rows wanted out of order are asked for this many rows before: about 16 kB ahead.
    i64 ahead() const {
        const i64 rows = 16384 / (d * static_cast<i64>(sizeof(T)) + 1);
        return rows < 2 ? 2 : rows > 128 ? 128 : rows;
    }

    void prefetch(i64 i) const {
        const T* r = row(i);
        for (i64 k = 0; k < d; k += 64 / static_cast<i64>(sizeof(T))) bring_nearer(r + k);
        if (d > 0) bring_nearer(r + d - 1);
    }

   private:
    template <bool bring, class U>
    SEPARATRIX_INLINE v8 products(const T* a, const U* b, const T* next) const {
        v8 s0{}, s1{}, s2{}, s3{};
        i64 k = 0;
        for (; k + 32 <= d; k += 32) {
            if constexpr (bring)
                for (i64 line = 0; line < 32; line += 64 / static_cast<i64>(sizeof(T))) bring_nearer(next + k + line);
            s0 += load(a + k) * load(b + k);
            s1 += load(a + k + 8) * load(b + k + 8);
            s2 += load(a + k + 16) * load(b + k + 16);
            s3 += load(a + k + 24) * load(b + k + 24);
        }
        if constexpr (bring) bring_nearer(next + k), bring_nearer(next + d - 1);
        if (k + 8 <= d) s0 += load(a + k) * load(b + k), k += 8;
        if (k + 8 <= d) s1 += load(a + k) * load(b + k), k += 8;
        if (k + 8 <= d) s2 += load(a + k) * load(b + k), k += 8;
        if (k < d) s3 += load_part(a + k, d - k) * load_part(b + k, d - k);
        return (s0 + s1) + (s2 + s3);
    }
};

template <class T, class I>
struct Csr {
    const T* value;
    const I* column;
    const I* start;  // n + 1 of them
    i64 n, d;

    double dot(i64 i, const double* w) const { return sum(lanes(i, w)); }

    double dot(i64 i, const double* w, i64 next) const { return sum(lanes(i, w, next)); }

    v8 lanes(i64 i, const double* w, i64 next) const {
        prefetch(next);
        return lanes(i, w);
    }

    v8 lanes(i64 i, const double* w) const {
        const T* v = value + start[i];
        const I* c = column + start[i];
        const i64 m = static_cast<i64>(start[i + 1] - start[i]);
        v8 s0{}, s1{};
        i64 k = 0;
        for (; k + 16 <= m; k += 16) {
            s0 += load(v + k) * picked(w, c + k);
            s1 += load(v + k + 8) * picked(w, c + k + 8);
        }
        if (k + 8 <= m) s0 += load(v + k) * picked(w, c + k), k += 8;
        if (k < m) s1 += load_part(v + k, m - k) * picked_part(w, c + k, m - k);
        return s0 + s1;
    }

    void axpy(double a, i64 i, double* w) const {
        for (I k = start[i]; k < start[i + 1]; ++k) w[column[k]] += a * static_cast<double>(value[k]);
    }

    double norm2(i64 i) const {
        const T* v = value + start[i];
        const i64 m = static_cast<i64>(start[i + 1] - start[i]);
        v8 s0{}, s1{};
        i64 k = 0;
        for (; k + 16 <= m; k += 16) s0 += load(v + k) * load(v + k), s1 += load(v + k + 8) * load(v + k + 8);
        if (k + 8 <= m) s0 += load(v + k) * load(v + k), k += 8;
        if (k < m) s1 += load_part(v + k, m - k) * load_part(v + k, m - k);
        return sum(s0 + s1);
    }

    i64 ahead() const { return 8; }

    void prefetch(i64 i) const {
        const i64 m = static_cast<i64>(start[i + 1] - start[i]);
        for (i64 k = 0; k < m; k += 16) bring_nearer(value + start[i] + k), bring_nearer(column + start[i] + k);
    }

   private:
    static v8 picked_part(const double* w, const I* c, i64 r) {
#if defined(__AVX512F__)
        const __mmask8 some = first(r);
        if constexpr (sizeof(I) == 4)
            return {_mm512_mask_i32gather_pd(_mm512_setzero_pd(), some, _mm256_maskz_loadu_epi32(some, c), w, 8)};
        else
            return {_mm512_mask_i64gather_pd(_mm512_setzero_pd(), some, _mm512_maskz_loadu_epi64(some, c), w, 8)};
#else
        double a[8] = {};
        for (i64 l = 0; l < r; ++l) a[l] = w[c[l]];
        return load(a);
#endif
    }
};

template <class T, class F>
inline void each(const Dense<T>& X, i64 i, F&& f) {
    const T* r = X.row(i);
    for (i64 j = 0; j < X.d; ++j) f(j, static_cast<double>(r[j]));
}
template <class T, class I, class F>
inline void each(const Csr<T, I>& X, i64 i, F&& f) {
    for (I k = X.start[i]; k < X.start[i + 1]; ++k) f(static_cast<i64>(X.column[k]), static_cast<double>(X.value[k]));
}

}  // namespace separatrix
