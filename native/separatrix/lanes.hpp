// Vectors of eight doubles, and the declared order of every sum.
//
// A sum of products over a row runs in fixed lanes, so that it has the same bits whatever the
// processor: eight lanes a vector, four vectors (accumulators) for dense rows, two for sparse ones;
// full blocks go round the accumulators, what remains of whole vectors goes on with the first ones,
// and the last, partial vector goes to the last accumulator. The accumulators are then added
// pairwise, and the eight lanes by halving: lane k and k + 4, then k and k + 2, then the last two.
// tests/reference/lanes.py says the same in Python. Products are rounded before they are added
// (no fused multiply-add).
#pragma once
#include <cmath>
#include <cstdint>
#include <cstring>
#if defined(__AVX2__) || defined(__AVX512F__)
#include <immintrin.h>
#endif

namespace separatrix {

using i64 = std::int64_t;
using i32 = std::int32_t;
using u64 = std::uint64_t;
using i8 = std::int8_t;

// Operations on vectors are always part of the loop around them: a call would take the vectors out of their registers
// and back, and compilers give up inlining where a file instantiates a loop for every kind of rows.
#define SEPARATRIX_INLINE [[gnu::always_inline]] inline

// Before a loop whose steps are independent, where gcc would otherwise test for overlapping arrays; clang
// has no such pragma, and warns of it.
#if defined(__GNUC__) && !defined(__clang__)
#define SEPARATRIX_INDEPENDENT _Pragma("GCC ivdep")
#else
#define SEPARATRIX_INDEPENDENT
#endif

#if defined(__AVX2__) || defined(__AVX512F__)
// w at c[0] .. c[3], by plain loads: beside double values as fast as the gather instruction, beside
// float ones a tenth faster.
template <class I>
SEPARATRIX_INLINE __m256d four(const double* w, const I* c) {
    const __m128d low = _mm_loadh_pd(_mm_load_sd(w + c[0]), w + c[1]);
    return _mm256_insertf128_pd(_mm256_castpd128_pd256(low), _mm_loadh_pd(_mm_load_sd(w + c[2]), w + c[3]), 1);
}
#endif

#if defined(__AVX512F__)

struct v8 {
    __m512d a = _mm512_setzero_pd();
};
SEPARATRIX_INLINE v8 operator+(v8 p, v8 q) { return {_mm512_add_pd(p.a, q.a)}; }
SEPARATRIX_INLINE v8 operator*(v8 p, v8 q) { return {_mm512_mul_pd(p.a, q.a)}; }
SEPARATRIX_INLINE v8 operator-(v8 p, v8 q) { return {_mm512_sub_pd(p.a, q.a)}; }
SEPARATRIX_INLINE v8 fused(v8 p, v8 q, v8 r) { return {_mm512_fmadd_pd(p.a, q.a, r.a)}; }  // p q + r, rounded once
SEPARATRIX_INLINE v8 every(double s) { return {_mm512_set1_pd(s)}; }
SEPARATRIX_INLINE v8 load(const double* p) { return {_mm512_loadu_pd(p)}; }
SEPARATRIX_INLINE v8 load(const float* p) { return {_mm512_cvtps_pd(_mm256_loadu_ps(p))}; }
SEPARATRIX_INLINE v8 load(const i8* p) {
    return {_mm512_cvtepi64_pd(_mm512_cvtepi8_epi64(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p))))};
}
template <class I>
SEPARATRIX_INLINE v8 picked(const double* w, const I* c) {  // w at c[0] .. c[7]
    return {_mm512_insertf64x4(_mm512_castpd256_pd512(four(w, c)), four(w, c + 4), 1)};
}
SEPARATRIX_INLINE void store(double* p, v8 s) { _mm512_storeu_pd(p, s.a); }
SEPARATRIX_INLINE void store(float* p, v8 s, v8 t) {  // sixteen numbers, rounded
    _mm512_storeu_ps(p, _mm512_insertf32x8(_mm512_castps256_ps512(_mm512_cvtpd_ps(s.a)), _mm512_cvtpd_ps(t.a), 1));
}
SEPARATRIX_INLINE __mmask8 first(i64 r) { return static_cast<__mmask8>((1u << r) - 1); }
// The first r < 8 numbers of p, zeros behind them; nothing beyond p[r - 1] is touched.
SEPARATRIX_INLINE v8 load_part(const double* p, i64 r) { return {_mm512_maskz_loadu_pd(first(r), p)}; }
SEPARATRIX_INLINE v8 load_part(const float* p, i64 r) { return {_mm512_cvtps_pd(_mm256_maskz_loadu_ps(first(r), p))}; }
SEPARATRIX_INLINE v8 load_part(const i8* p, i64 r) {
    i8 a[8] = {};
    std::memcpy(a, p, static_cast<std::size_t>(r));
    return load(a);
}
SEPARATRIX_INLINE void store_part(double* p, v8 s, i64 r) { _mm512_mask_storeu_pd(p, first(r), s.a); }

SEPARATRIX_INLINE double sum(v8 s) {
    const __m256d q = _mm256_add_pd(_mm512_castpd512_pd256(s.a), _mm512_extractf64x4_pd(s.a, 1));
    const __m128d r = _mm_add_pd(_mm256_castpd256_pd128(q), _mm256_extractf128_pd(q, 1));
    return _mm_cvtsd_f64(_mm_add_sd(r, _mm_unpackhi_pd(r, r)));
}

// Eight such sums at once: lane r of the result is sum(a[r]), to the bit.
SEPARATRIX_INLINE v8 sum_each(const v8 a[8]) {
    __m512d p[4], q[2];
    for (int r = 0; r < 4; ++r) {  // row r in the lower half, row r + 4 in the upper
        const __m512d x = a[r].a, y = a[r + 4].a;
        p[r] = _mm512_add_pd(_mm512_shuffle_f64x2(x, y, 0x44), _mm512_shuffle_f64x2(x, y, 0xee));
    }
    for (int r = 0; r < 2; ++r)  // rows r, r + 4, r + 2, r + 6, two lanes each
        q[r] = _mm512_add_pd(_mm512_shuffle_f64x2(p[r], p[r + 2], 0x88), _mm512_shuffle_f64x2(p[r], p[r + 2], 0xdd));
    const __m512d s = _mm512_add_pd(_mm512_unpacklo_pd(q[0], q[1]), _mm512_unpackhi_pd(q[0], q[1]));
    return {_mm512_permutexvar_pd(_mm512_setr_epi64(0, 1, 4, 5, 2, 3, 6, 7), s)};
}

// Bit r is set where lane r is not above zero.
SEPARATRIX_INLINE unsigned not_positive(v8 s) { return _mm512_cmp_pd_mask(s.a, _mm512_setzero_pd(), _CMP_NGT_UQ); }

#else

#if defined(__AVX2__)
typedef double part __attribute__((vector_size(32)));
typedef double part_any __attribute__((vector_size(32), aligned(8), may_alias));
constexpr int parts = 2;
#else
typedef double part __attribute__((vector_size(16)));
typedef double part_any __attribute__((vector_size(16), aligned(8), may_alias));
constexpr int parts = 4;
#endif
constexpr int wide = 8 / parts;

struct v8 {
    part a[parts] = {};
};
SEPARATRIX_INLINE v8 operator+(v8 p, v8 q) {
    for (int k = 0; k < parts; ++k) p.a[k] += q.a[k];
    return p;
}
SEPARATRIX_INLINE v8 operator*(v8 p, v8 q) {
    for (int k = 0; k < parts; ++k) p.a[k] *= q.a[k];
    return p;
}
SEPARATRIX_INLINE v8 operator-(v8 p, v8 q) {
    for (int k = 0; k < parts; ++k) p.a[k] -= q.a[k];
    return p;
}
SEPARATRIX_INLINE v8 every(double s) {
    v8 p;
    for (int k = 0; k < parts; ++k) p.a[k] += s;
    return p;
}
SEPARATRIX_INLINE v8 load(const double* p) {
    v8 s;
    for (int k = 0; k < parts; ++k) s.a[k] = *reinterpret_cast<const part_any*>(p + wide * k);
    return s;
}
template <class T>
SEPARATRIX_INLINE v8 load(const T* p) {
    v8 s;
#if defined(__AVX2__)
    if constexpr (sizeof(T) == 4) {
        for (int k = 0; k < parts; ++k) s.a[k] = (part)_mm256_cvtps_pd(_mm_loadu_ps(p + wide * k));
        return s;
    }
    if constexpr (sizeof(T) == 1) {
        const __m128i all = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(p));
        s.a[0] = (part)_mm256_cvtepi32_pd(_mm_cvtepi8_epi32(all));
        s.a[1] = (part)_mm256_cvtepi32_pd(_mm_cvtepi8_epi32(_mm_srli_si128(all, 4)));
        return s;
    }
#endif
    for (int k = 0; k < 8; ++k) s.a[k / wide][k % wide] = p[k];
    return s;
}
template <class I>
SEPARATRIX_INLINE v8 picked(const double* w, const I* c) {
#if defined(__AVX2__)
    return {{(part)four(w, c), (part)four(w, c + 4)}};
#else
    return {{part{w[c[0]], w[c[1]]}, part{w[c[2]], w[c[3]]}, part{w[c[4]], w[c[5]]}, part{w[c[6]], w[c[7]]}}};
#endif
}
SEPARATRIX_INLINE void store(double* p, v8 s) {
    for (int k = 0; k < parts; ++k) *reinterpret_cast<part_any*>(p + wide * k) = s.a[k];
}
SEPARATRIX_INLINE v8 fused(v8 p, v8 q, v8 r) {
#if defined(__FMA__)
    for (int k = 0; k < parts; ++k) p.a[k] = (part)_mm256_fmadd_pd((__m256d)p.a[k], (__m256d)q.a[k], (__m256d)r.a[k]);
    return p;
#else
    double a[8], b[8], c[8];
    store(a, p), store(b, q), store(c, r);
    for (int k = 0; k < 8; ++k) a[k] = std::fma(a[k], b[k], c[k]);
    return load(a);
#endif
}
SEPARATRIX_INLINE void store(float* p, v8 s, v8 t) {  // sixteen numbers, rounded
    for (int k = 0; k < 8; ++k) p[k] = static_cast<float>(s.a[k / wide][k % wide]);
    for (int k = 0; k < 8; ++k) p[8 + k] = static_cast<float>(t.a[k / wide][k % wide]);
}
#if defined(__AVX2__)
// Masks of the first r lanes: windows of these ones and zeros.
alignas(64) inline constexpr i64 eight_lanes[16] = {-1, -1, -1, -1, -1, -1, -1, -1, 0, 0, 0, 0, 0, 0, 0, 0};
alignas(64) inline constexpr i32 eight_floats[16] = {-1, -1, -1, -1, -1, -1, -1, -1, 0, 0, 0, 0, 0, 0, 0, 0};
SEPARATRIX_INLINE __m256i first(i64 r, int k) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(eight_lanes + (8 - r) + 4 * k));
}
#endif
// The first r < 8 numbers of p, zeros behind them; nothing beyond p[r - 1] is touched.
template <class T>
SEPARATRIX_INLINE v8 load_part(const T* p, i64 r) {
#if defined(__AVX2__)  // without a detour through memory, which the next load would have to wait for
    if constexpr (sizeof(T) == 8)
        return {{(part)_mm256_maskload_pd(p, first(r, 0)), (part)_mm256_maskload_pd(p + 4, first(r, 1))}};
    if constexpr (sizeof(T) == 4) {
        const __m256i some = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(eight_floats + (8 - r)));
        const __m256 all = _mm256_maskload_ps(p, some);
        return {{(part)_mm256_cvtps_pd(_mm256_castps256_ps128(all)), (part)_mm256_cvtps_pd(_mm256_extractf128_ps(all, 1))}};
    }
#endif
    double a[8] = {};
    for (i64 k = 0; k < r; ++k) a[k] = p[k];
    return load(a);
}
SEPARATRIX_INLINE void store_part(double* p, v8 s, i64 r) {
#if defined(__AVX2__)
    for (int k = 0; k < parts; ++k) _mm256_maskstore_pd(p + 4 * k, first(r, k), (__m256d)s.a[k]);
#else
    double a[8];
    store(a, s);
    std::memcpy(p, a, static_cast<std::size_t>(r) * sizeof(double));
#endif
}

SEPARATRIX_INLINE double sum(v8 s) {
#if defined(__AVX2__)
    const __m256d q = (__m256d)(s.a[0] + s.a[1]);
    const __m128d r = _mm_add_pd(_mm256_castpd256_pd128(q), _mm256_extractf128_pd(q, 1));
    return _mm_cvtsd_f64(_mm_add_sd(r, _mm_unpackhi_pd(r, r)));
#else
    const part r = (s.a[0] + s.a[2]) + (s.a[1] + s.a[3]);
    return r[0] + r[1];
#endif
}

#if defined(__AVX2__)
// The sums of four vectors, in the order of sum().
SEPARATRIX_INLINE part sum_four(const v8* a) {
    __m256d q[4], t[2];
    for (int r = 0; r < 4; ++r) q[r] = (__m256d)(a[r].a[0] + a[r].a[1]);
    for (int r = 0; r < 2; ++r)  // rows r and r + 2, two lanes each
        t[r] = _mm256_add_pd(_mm256_permute2f128_pd(q[r], q[r + 2], 0x20), _mm256_permute2f128_pd(q[r], q[r + 2], 0x31));
    return (part)_mm256_add_pd(_mm256_unpacklo_pd(t[0], t[1]), _mm256_unpackhi_pd(t[0], t[1]));
}
#endif

SEPARATRIX_INLINE v8 sum_each(const v8 a[8]) {
#if defined(__AVX2__)
    return {{sum_four(a), sum_four(a + 4)}};
#else
    double s[8];
    for (int r = 0; r < 8; ++r) s[r] = sum(a[r]);
    return load(s);
#endif
}

SEPARATRIX_INLINE unsigned not_positive(v8 s) {
    double a[8];
    store(a, s);
    unsigned bits = 0;
    for (int r = 0; r < 8; ++r) bits |= static_cast<unsigned>(!(a[r] > 0)) << r;
    return bits;
}

#endif

SEPARATRIX_INLINE v8& operator+=(v8& p, v8 q) { return p = p + q; }

}  // namespace separatrix
