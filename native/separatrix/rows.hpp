// The rows of a table: dense (C order) and sparse (CSR) give the kernels the same verbs,
//   dot(i, w)      x_i . w, and dot(i, w, next) while x_next is fetched
//   axpy(a, i, w)  w += a x_i
//   norm2(i)       |x_i|^2
//   prefetch(i)    x_i will be wanted soon, ahead() rows before it is
// for float64 and float32 values. Weights and sums are always double: float32 values are exact
// doubles, so a float32 table gives the same model as its float64 copy.
#pragma once
#include "lanes.hpp"

namespace separatrix {

template <class T>
struct Dense {
    const T* x;
    i64 n, d;

    const T* row(i64 i) const { return x + i * d; }

    double dot(i64 i, const double* w) const { return product<false>(row(i), w, nullptr); }

    // The same sum, while row `next` is brought nearer line by line.
    double dot(i64 i, const double* w, i64 next) const { return product<true>(row(i), w, row(next)); }

    void axpy(double a, i64 i, double* w) const {
        const T* r = row(i);
        const v8 c = every(a);
        i64 k = 0;
        for (; k + 8 <= d; k += 8) store(w + k, load(w + k) + c * load(r + k));
        if (k < d) store_part(w + k, load_part(w + k, d - k) + c * load_part(r + k, d - k), d - k);
    }

    double norm2(i64 i) const { return product<false>(row(i), row(i), nullptr); }

    // Rows wanted out of order are asked for this many rows before: about 8 kB ahead.
    i64 ahead() const {
        const i64 rows = 8192 / (d * static_cast<i64>(sizeof(T)) + 1);
        return rows < 1 ? 1 : rows > 32 ? 32 : rows;
    }

    void prefetch(i64 i) const {  // its beginning; the processor follows a long row by itself
        const char* p = reinterpret_cast<const char*>(row(i));
        const i64 bytes = d * static_cast<i64>(sizeof(T)) < 2048 ? d * static_cast<i64>(sizeof(T)) : 2048;
        for (i64 b = 0; b < bytes + 63; b += 64) __builtin_prefetch(p + b);
    }

   private:
    template <bool bring, class U>
    double product(const T* a, const U* b, const T* next) const {
        v8 s0{}, s1{}, s2{}, s3{};
        i64 k = 0;
        for (; k + 32 <= d; k += 32) {
            if constexpr (bring)
                for (i64 line = 0; line < 32; line += 64 / static_cast<i64>(sizeof(T))) __builtin_prefetch(next + k + line);
            s0 += load(a + k) * load(b + k);
            s1 += load(a + k + 8) * load(b + k + 8);
            s2 += load(a + k + 16) * load(b + k + 16);
            s3 += load(a + k + 24) * load(b + k + 24);
        }
        if constexpr (bring) __builtin_prefetch(next + k), __builtin_prefetch(next + d - 1);
        if (k + 8 <= d) s0 += load(a + k) * load(b + k), k += 8;
        if (k + 8 <= d) s1 += load(a + k) * load(b + k), k += 8;
        if (k + 8 <= d) s2 += load(a + k) * load(b + k), k += 8;
        if (k < d) s3 += load_part(a + k, d - k) * load_part(b + k, d - k);
        return sum((s0 + s1) + (s2 + s3));
    }
};

template <class T, class I>
struct Csr {
    const T* value;
    const I* column;
    const I* start;  // n + 1 of them
    i64 n, d;

    double dot(i64 i, const double* w) const {
        const T* v = value + start[i];
        const I* c = column + start[i];
        const i64 m = static_cast<i64>(start[i + 1] - start[i]);
        v8 s0{}, s1{};
        i64 k = 0;
        for (; k + 16 <= m; k += 16) {
            s0 += load(v + k) * gather(w, c + k);
            s1 += load(v + k + 8) * gather(w, c + k + 8);
        }
        if (k + 8 <= m) s0 += load(v + k) * gather(w, c + k), k += 8;
        if (k < m) s1 += load_part(v + k, m - k) * gather_part(w, c + k, m - k);
        return sum(s0 + s1);
    }

    double dot(i64 i, const double* w, i64 next) const {
        prefetch(next);
        return dot(i, w);
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
        __builtin_prefetch(value + start[i]);
        __builtin_prefetch(column + start[i]);
    }

   private:
    static v8 gather(const double* w, const I* c) {
#if defined(__AVX512F__)
        if constexpr (sizeof(I) == 4)
            return {_mm512_i32gather_pd(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(c)), w, 8)};
        else
            return {_mm512_i64gather_pd(_mm512_loadu_si512(c), w, 8)};
#else
        const double a[8] = {w[c[0]], w[c[1]], w[c[2]], w[c[3]], w[c[4]], w[c[5]], w[c[6]], w[c[7]]};
        return load(a);
#endif
    }

    static v8 gather_part(const double* w, const I* c, i64 r) {
        double a[8] = {};
        for (i64 l = 0; l < r; ++l) a[l] = w[c[l]];
        return load(a);
    }
};

}  // namespace separatrix
