// Weighted counts, means and scatter of rows, of each class or of all, in one pass.
//
// Each class fills a block of `block_rows` rows, counted from its own first row. A full block is
// shifted by its first row and then by its own mean, and its scatter about that mean is added to the
// total; how far the block's mean lies from the mean so far enters as one more row (Chan, Golub and
// LeVeque 1983). Means are pairs of doubles, so that a large offset costs no digit of the scatter. The
// blocks do not depend on how rows arrive in chunks, and so neither does any bit of the result.
#pragma once
#include <cmath>
#include <vector>

#include "rows.hpp"
#include "twofold.hpp"

namespace separatrix {

constexpr i64 block_rows = 128;
constexpr i64 ahead = 16;  // rows asked for early: hardware forgets the stream while a block is multiplied
constexpr i64 panel = 8;  // columns that lie together while a block is multiplied

#if defined(__AVX512F__)
typedef double lanes_t __attribute__((vector_size(64)));
constexpr int tile_rows = 8;
constexpr int tile_panels = 3;
inline lanes_t multiply_add(lanes_t a, lanes_t b, lanes_t c) { return (lanes_t)_mm512_fmadd_pd((__m512d)a, (__m512d)b, (__m512d)c); }
#elif defined(__AVX2__) && defined(__FMA__)
typedef double lanes_t __attribute__((vector_size(32)));
constexpr int tile_rows = 4;
constexpr int tile_panels = 1;
inline lanes_t multiply_add(lanes_t a, lanes_t b, lanes_t c) { return (lanes_t)_mm256_fmadd_pd((__m256d)a, (__m256d)b, (__m256d)c); }
#else
typedef double lanes_t __attribute__((vector_size(16)));
constexpr int tile_rows = 2;
constexpr int tile_panels = 1;
inline lanes_t multiply_add(lanes_t a, lanes_t b, lanes_t c) { return a * b + c; }
#endif
constexpr int lane_count = sizeof(lanes_t) / sizeof(double);
constexpr int panel_lanes = panel / lane_count;

// C += A' B for `tile_rows` columns of one panel and all columns of `panels` panels, over `rows` rows.
template <int panels>
inline void multiply_tile(const double* a, const double* b, i64 rows, i64 stride, double* c, i64 ld) {
    constexpr int width = panels * panel_lanes;
    lanes_t sum[tile_rows][width];
    for (int i = 0; i < tile_rows; ++i)
        for (int j = 0; j < width; ++j) std::memcpy(&sum[i][j], c + i * ld + j * lane_count, sizeof(lanes_t));
    for (i64 r = 0; r < rows; ++r) {
        lanes_t right[width];
        for (int p = 0; p < panels; ++p)
            for (int l = 0; l < panel_lanes; ++l)
                std::memcpy(&right[p * panel_lanes + l], b + p * stride + r * panel + l * lane_count, sizeof(lanes_t));
        for (int i = 0; i < tile_rows; ++i) {
            const lanes_t left = a[r * panel + i] - lanes_t{};
            for (int j = 0; j < width; ++j) sum[i][j] = multiply_add(left, right[j], sum[i][j]);
        }
    }
    for (int i = 0; i < tile_rows; ++i)
        for (int j = 0; j < width; ++j) std::memcpy(c + i * ld + j * lane_count, &sum[i][j], sizeof(lanes_t));
}

// The upper triangle, panel by panel, of C += Z' Z for Z packed into panels of `capacity` rows each.
inline void add_scatter(const double* packed, i64 rows, i64 capacity, i64 panels, double* c) {
    const i64 ld = panels * panel, stride = capacity * panel;
    for (i64 p = 0; p < panels; ++p)
        for (int i = 0; i < panel; i += tile_rows) {
            const double* a = packed + p * stride + i;
            double* top = c + (p * panel + i) * ld;
            i64 q = p;
            if constexpr (tile_panels == 3) {
                for (; q + 3 <= panels; q += 3) multiply_tile<3>(a, packed + q * stride, rows, stride, top + q * panel, ld);
                if (q + 2 == panels) multiply_tile<2>(a, packed + q * stride, rows, stride, top + q * panel, ld), q += 2;
            }
            for (; q < panels; ++q) multiply_tile<1>(a, packed + q * stride, rows, stride, top + q * panel, ld);
        }
}

struct Moments {
    i64 columns;     // features, then targets
    i64* rows;       // of each class, blocks not yet added included
    i64* fill;       // rows in the block of each class
    double* weight;  // of each class, added blocks only
    double* high;    // means of added blocks: high + low
    double* low;
    double* scatter;  // square, padded to whole panels; one for all classes or one a class
    double* block;    // block_rows x columns a class
    double* block_weight;
    bool pooled;

    i64 panels() const { return (columns + panel - 1) / panel; }
};

// Adds the block of class k to its moments, and empties it.
inline void flush(const Moments& m, i64 k, std::vector<double>& packed) {
    const i64 n = m.fill[k], q = m.columns, panels = m.panels(), capacity = block_rows + 1;
    if (n == 0) return;
    const double* z = m.block + k * block_rows * q;
    const double* w = m.block_weight + k * block_rows;
    packed.resize(static_cast<std::size_t>(panels * panel * (capacity + 1)));
    double* __restrict shift = packed.data() + panels * panel * capacity;
    for (i64 j = 0; j < panels * panel; ++j) shift[j] = 0;
    double total = 0;
    for (i64 i = 0; i < n; ++i) total += w[i];
    for (i64 i = 1; i < n; ++i) {
        const double* x = z + i * q;
        const double c = w[i];
        for (i64 j = 0; j < q; ++j) shift[j] += c * (x[j] - z[j]);
    }
    for (i64 j = 0; j < q; ++j) shift[j] /= total;
    for (i64 i = 0; i < n; ++i) {
        const double* x = z + i * q;
        const double c = std::sqrt(w[i]);
        for (i64 p = 0; p < panels; ++p) {
            double* __restrict out = packed.data() + (p * capacity + i) * panel;
            const i64 j0 = p * panel, width = q - j0 < panel ? q - j0 : panel;
            if (width == panel)
                for (i64 j = 0; j < panel; ++j) out[j] = c * ((x[j0 + j] - z[j0 + j]) - shift[j0 + j]);
            else
                for (i64 j = 0; j < panel; ++j) out[j] = j < width ? c * ((x[j0 + j] - z[j0 + j]) - shift[j0 + j]) : 0;
        }
    }
    const auto far_row = [&](i64 j) { return static_cast<std::size_t>((j / panel * capacity + n) * panel + j % panel); };
    double *high = m.high + k * q, *low = m.low + k * q;
    const double before = m.weight[k], share = total / (before + total), root = std::sqrt(before * share);
    for (i64 j = q; j < panels * panel; ++j) packed[far_row(j)] = 0;
    for (i64 j = 0; j < q; ++j) {
        const Twofold mean = two_sum(z[j], shift[j]);
        if (before == 0) {
            high[j] = mean.high;
            low[j] = mean.low;
            continue;
        }
        const Twofold far = two_sum(mean.high, -high[j]);
        const double delta = far.high + (far.low + (mean.low - low[j]));
        packed[far_row(j)] = root * delta;
        const Twofold moved = two_sum(high[j], low[j] + delta * share);
        high[j] = moved.high;
        low[j] = moved.low;
    }
    m.weight[k] = before + total;
    m.fill[k] = 0;
    const i64 ld = panels * panel;
    add_scatter(packed.data(), before == 0 ? n : n + 1, capacity, panels, m.scatter + (m.pooled ? 0 : k * ld * ld));
}

template <class T>
inline void copy_row(const Dense<T>& X, i64 i, double* out) {
    const T* x = X.row(i);
    for (i64 j = 0; j < X.d; ++j) out[j] = x[j];
}

template <class T, class I>
inline void copy_row(const Csr<T, I>& X, i64 i, double* out) {
    for (i64 j = 0; j < X.d; ++j) out[j] = 0;
    for (I k = X.start[i]; k < X.start[i + 1]; ++k) out[X.column[k]] = X.value[k];
}

// Rows begin .. end join their classes (null: all are of class 0); weight 0 leaves a row out.
template <class Rows>
void moments_add(const Rows& X, const double* targets, i64 target_columns, const i64* code, const double* weight,
                 i64 begin, i64 end, const Moments& m) {
    std::vector<double> packed;
    for (i64 i = begin; i < end; ++i) {
        if (i + ahead < end) X.prefetch(i + ahead);
        const double c = weight ? weight[i] : 1.0;
        if (c == 0) continue;
        const i64 k = code ? code[i] : 0, at = m.fill[k];
        double* out = m.block + (k * block_rows + at) * m.columns;
        copy_row(X, i, out);
        for (i64 t = 0; t < target_columns; ++t) out[X.d + t] = targets[i * target_columns + t];
        m.block_weight[k * block_rows + at] = c;
        ++m.rows[k];
        if (++m.fill[k] == block_rows) flush(m, k, packed);
    }
}

inline void moments_flush(const Moments& m, i64 classes) {
    std::vector<double> packed;
    for (i64 k = 0; k < classes; ++k) flush(m, k, packed);
}

}  // namespace separatrix
