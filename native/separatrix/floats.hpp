// Kernels of a block of rows with entries in single precision, as many numbers to a vector as the level has.
//
// No bits are promised here, so products may be fused with sums; screen.hpp says how far the sums may be off.
#pragma once
#include <vector>

#include "lanes.hpp"

namespace separatrix {

#if defined(__AVX512F__)
constexpr int floats = 16;
#elif defined(__AVX2__)
constexpr int floats = 8;
#else
constexpr int floats = 4;
#endif
typedef float vf __attribute__((vector_size(4 * floats)));
typedef float vf_any __attribute__((vector_size(4 * floats), aligned(4), may_alias));
typedef i32 vi __attribute__((vector_size(4 * floats)));

inline vf load_floats(const float* p) { return *reinterpret_cast<const vf_any*>(p); }
inline void store_floats(float* p, vf s) { *reinterpret_cast<vf_any*>(p) = s; }
inline vf all(float s) { return s - vf{}; }
inline vf absolute(vf s) { return (vf)((vi)s & 0x7fffffff); }

// a b + c, rounded once where the level can.
inline vf fused(vf a, vf b, vf c) {
#if defined(__AVX512F__)
    return (vf)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c);
#elif defined(__AVX2__)
    return (vf)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c);
#else
    return a * b + c;
#endif
}

// 2^t for t <= 1, to a relative 8 u; 2^-126 for all t below -126. The polynomial has a relative error of 1.82 u on
// [-1/2, 1/2] (least maximum, with p(0) = 1).
inline vf exp2_down(vf t) {
    const vf magic = all(12582912.0f), low = all(-126.0f);  // 1.5 * 2^23: adding it rounds to a whole number
    t = t > low ? t : low;
    const vf shifted = t + magic, f = t - (shifted - magic);
    vf p = all(0x1.5bba14p-10f);
    p = fused(p, f, all(0x1.3cea88p-7f));
    p = fused(p, f, all(0x1.c6b752p-5f));
    p = fused(p, f, all(0x1.ebf9bcp-3f));
    p = fused(p, f, all(0x1.62e42ap-1f));
    p = fused(p, f, all(1.0f));
    return (vf)((vi)p + ((vi)shifted << 23));
}

// A block of rows turned round: groups of `span` rows, and in a group number k of each row side by side.
struct TurnedRows {
    static constexpr int span = 2 * floats;
    static constexpr i64 most = 128;  // rows of a block
    i64 d = 0, groups = 0;
    std::vector<float> x;
    float size[most] = {};  // what the kernel needs of each row beside its numbers

    const float* group(i64 g) const { return x.data() + g * d * span; }
};

// An entry: its row, what the kernel needs of it, its weight a, |a|, and |a| times its part of the error.
struct FloatEntry {
    const float* z;
    float size, a, weight, doubt;
};

// Sums over entries of a k, |a| k or more, and |a| times an error.
struct FloatSums {
    float s[TurnedRows::most] = {}, mass[TurnedRows::most] = {}, doubt[TurnedRows::most] = {};
};

// 2^(x.z - |x|^2/2 - |z|^2/2), where sizes are |x|^2/2.
struct GaussianTail {
    void operator()(vf dot, vf size, const FloatEntry& e, vf& s, vf& mass, vf& doubt) const {
        const vf k = exp2_down(dot - (size + e.size));
        s = fused(k, all(e.a), s);
        mass = fused(k, all(e.weight), mass);
        doubt = fused(k, all(e.doubt), doubt);
    }
};

// (x.z + c)^degree, where the base is off by at most |x| size_z + base_doubt; the sizes of rows are |x|.
struct PowerTail {
    float c, base_doubt;
    i64 degree;

    void operator()(vf dot, vf size, const FloatEntry& e, vf& s, vf& mass, vf& doubt) const {
        const vf error = fused(size, all(e.size), all(base_doubt)), base = dot + c, most = absolute(base) + error;
        vf k = base, slope = all(1.0f);
        for (i64 t = 1; t < degree; ++t) k *= base, slope *= most;
        s = fused(k, all(e.a), s);
        mass = fused(slope * most, all(e.weight), mass);
        doubt = fused(slope * error, all(e.weight), doubt);
    }
};

// Add `count` entries to the rows of V / 2 groups from g on. Products are summed by parts of 64 terms.
template <int V, int count, class Tail>
void add_entries(const TurnedRows& X, i64 g, const FloatEntry* e, const Tail& tail, FloatSums& sums) {
    constexpr i64 part = 64;
    const i64 d = X.d;
    const float* x = X.group(g);
    const float* z[count];
    for (int l = 0; l < count; ++l) z[l] = e[l].z;
    vf dot[count][V] = {};
    for (i64 from = 0; from < d; from += part) {
        const i64 to = d - from < part ? d : from + part;
        vf s[count][V] = {};
        for (i64 k = from; k < to; ++k) {
            vf c[V];
            for (int v = 0; v < V; ++v) c[v] = load_floats(x + (v / 2 * d + k) * X.span + v % 2 * floats);
            for (int l = 0; l < count; ++l) {
                const vf b = all(z[l][k]);
                for (int v = 0; v < V; ++v) s[l][v] = fused(b, c[v], s[l][v]);
            }
        }
        for (int l = 0; l < count; ++l)
            for (int v = 0; v < V; ++v) dot[l][v] += s[l][v];
    }
    for (int v = 0; v < V; ++v) {
        const i64 at = g * X.span + v * floats;
        const vf size = load_floats(X.size + at);
        vf s = load_floats(sums.s + at), mass = load_floats(sums.mass + at), doubt = load_floats(sums.doubt + at);
        for (int l = 0; l < count; ++l) tail(dot[l][v], size, e[l], s, mass, doubt);
        store_floats(sums.s + at, s);
        store_floats(sums.mass + at, mass);
        store_floats(sums.doubt + at, doubt);
    }
}

}  // namespace separatrix
