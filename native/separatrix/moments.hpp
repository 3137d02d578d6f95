// Weighted counts, means and scatter of rows, of each class or of all, in one pass.
//
// Each class fills a block of `block_rows` rows, counted from its own first row. A full block is
// shifted by its first row and then by its own mean, and its scatter about that mean is added to the
// total; how far the block's mean lies from the mean so far enters as one more row (Chan, Golub and
// LeVeque 1983). Means are pairs of doubles, so that a large offset costs no digit of the scatter. The
// blocks do not depend on how rows arrive in chunks, and so neither does any bit of the result.
//
// Dense rows of doubles are taken from where they lie when their block is full; only those that wait for
// the next chunk are copied. While a block is multiplied, the rows after it are fetched.
#pragma once
#include <algorithm>
#include <cmath>
#include <type_traits>
#include <vector>

#include "rows.hpp"
#include "twofold.hpp"

namespace separatrix {

constexpr i64 block_rows = 128;
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

// Memory that will be read after this block, fetched line by line while it is multiplied.
struct Upcoming {
    const char* at = nullptr;
    const char* end = nullptr;

    void fetch_line() {
        if (at < end) bring_nearer(at), at += 64;
    }
};

// C += A' B for `tile_rows` columns of one panel and all columns of `panels` panels, over `rows` rows.
template <int panels>
inline void multiply_tile(const double* a, const double* b, i64 rows, i64 stride, double* c, i64 ld, Upcoming& next) {
    constexpr int width = panels * panel_lanes;
    lanes_t sum[tile_rows][width];
    for (int i = 0; i < tile_rows; ++i)
        for (int j = 0; j < width; ++j) std::memcpy(&sum[i][j], c + i * ld + j * lane_count, sizeof(lanes_t));
    for (i64 r = 0; r < rows; ++r) {
        if (r % 2) next.fetch_line();
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
inline void add_scatter(const double* packed, i64 rows, i64 capacity, i64 panels, double* c, Upcoming& next) {
    const i64 ld = panels * panel, stride = capacity * panel;
    for (i64 p = 0; p < panels; ++p)
        for (int i = 0; i < panel; i += tile_rows) {
            const double* a = packed + p * stride + i;
            double* top = c + (p * panel + i) * ld;
            i64 q = p;
            if constexpr (tile_panels == 3) {
                for (; q + 3 <= panels; q += 3) multiply_tile<3>(a, packed + q * stride, rows, stride, top + q * panel, ld, next);
                if (q + 2 == panels) multiply_tile<2>(a, packed + q * stride, rows, stride, top + q * panel, ld, next), q += 2;
            }
            for (; q < panels; ++q) multiply_tile<1>(a, packed + q * stride, rows, stride, top + q * panel, ld, next);
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

// What was added to another state; its arrays are only read.
struct AddedMoments {
    const i64* rows;
    const double* weight;
    const double* high;
    const double* low;
    const double* scatter;
};

// Where the features and the targets of a block's rows lie.
struct Block {
    const double* features[block_rows];
    const double* targets[block_rows];
};

// Adds the block of class k to its moments, and empties it.
inline void flush(const Moments& m, i64 k, i64 features, const Block& rows, std::vector<double>& work, Upcoming next) {
    const i64 n = m.fill[k], q = m.columns, panels = m.panels(), ld = panels * panel, capacity = block_rows + 1;
    if (n == 0) return;
    const double* w = m.block_weight + k * block_rows;
    work.resize(static_cast<std::size_t>(ld * (3 + capacity)));
    std::fill_n(work.data(), ld * 3, 0.0);
    double* __restrict first = work.data();  // the block's first row
    double* __restrict shift = first + ld;   // from there to the block's mean
    double* __restrict rest = shift + ld;    // columns of a row that do not fill a panel of features
    double* packed = rest + ld;
    for (i64 j = 0; j < features; ++j) first[j] = rows.features[0][j];
    for (i64 j = features; j < q; ++j) first[j] = rows.targets[0][j - features];
    double total = 0;
    for (i64 i = 0; i < n; ++i) total += w[i];
    for (i64 i = 1; i < n; ++i) {
        const double *x = rows.features[i], *t = rows.targets[i];
        const double c = w[i];
        for (i64 j = 0; j < features; ++j) shift[j] += c * (x[j] - first[j]);
        for (i64 j = features; j < q; ++j) shift[j] += c * (t[j - features] - first[j]);
    }
    for (i64 j = 0; j < q; ++j) shift[j] /= total;
    const i64 whole = features / panel, filled = whole * panel;
    for (i64 i = 0; i < n; ++i) {
        const double *x = rows.features[i], *t = rows.targets[i];
        const double c = std::sqrt(w[i]);
        for (i64 j = filled; j < q; ++j) rest[j - filled] = j < features ? x[j] : t[j - features];
        for (i64 p = 0; p < panels; ++p) {
            const double* from = p < whole ? x + p * panel : rest + (p - whole) * panel;
            double* __restrict out = packed + (p * capacity + i) * panel;
            for (i64 j = 0; j < panel; ++j) out[j] = c * ((from[j] - first[p * panel + j]) - shift[p * panel + j]);
        }
    }
    const auto far_row = [&](i64 j) -> double& { return packed[(j / panel * capacity + n) * panel + j % panel]; };
    double *high = m.high + k * q, *low = m.low + k * q;
    const double before = m.weight[k], share = total / (before + total), root = std::sqrt(before * share);
    for (i64 j = q; j < ld; ++j) far_row(j) = 0;
    for (i64 j = 0; j < q; ++j) {
        const Twofold mean = two_sum(first[j], shift[j]);
        if (before == 0) {
            high[j] = mean.high;
            low[j] = mean.low;
            continue;
        }
        const Twofold far = two_sum(mean.high, -high[j]);
        const double delta = far.high + (far.low + (mean.low - low[j]));
        far_row(j) = root * delta;
        const Twofold moved = two_sum(high[j], low[j] + delta * share);
        high[j] = moved.high;
        low[j] = moved.low;
    }
    m.weight[k] = before + total;
    m.fill[k] = 0;
    add_scatter(packed, before == 0 ? n : n + 1, capacity, panels, m.scatter + (m.pooled ? 0 : k * ld * ld), next);
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

// The rows of dense tables that lie in memory from row begin to row end.
template <class T>
inline Upcoming stretch(const Dense<T>& X, i64 begin, i64 end) {
    return {reinterpret_cast<const char*>(X.row(begin)), reinterpret_cast<const char*>(X.row(end))};
}

template <class T, class I>
inline Upcoming stretch(const Csr<T, I>&, i64, i64) {
    return {};
}

// The blocks of a state, with the rows that wait in it.
inline std::vector<Block> waiting(const Moments& m, i64 classes, i64 features) {
    std::vector<Block> blocks(static_cast<std::size_t>(classes));
    for (i64 k = 0; k < classes; ++k)
        for (i64 r = 0; r < m.fill[k]; ++r) {
            blocks[k].features[r] = m.block + (k * block_rows + r) * m.columns;
            blocks[k].targets[r] = blocks[k].features[r] + features;
        }
    return blocks;
}

// Rows begin .. end join their classes (null: all are of class 0); weight 0 leaves a row out.
template <class Rows>
void moments_add(const Rows& X, const double* targets, i64 target_columns, const i64* code, const double* weight,
                 i64 begin, i64 end, i64 classes, const Moments& m) {
    constexpr bool in_place = std::is_same_v<Rows, Dense<double>>;
    std::vector<Block> blocks = waiting(m, classes, X.d);
    std::vector<i64> copied(m.fill, m.fill + classes);  // rows of each block that the state holds already
    std::vector<double> work;
    for (i64 i = begin; i < end; ++i) {
        const double c = weight ? weight[i] : 1.0;
        if (c == 0) continue;
        const i64 k = code ? code[i] : 0, r = m.fill[k];
        blocks[k].targets[r] = targets + i * target_columns;
        if constexpr (in_place) {
            blocks[k].features[r] = X.row(i);
        } else {
            double* out = m.block + (k * block_rows + r) * m.columns;
            copy_row(X, i, out);
            blocks[k].features[r] = out;
        }
        m.block_weight[k * block_rows + r] = c;
        ++m.rows[k];
        if (++m.fill[k] < block_rows) continue;
        flush(m, k, X.d, blocks[k], work, stretch(X, i + 1, std::min(i + 1 + block_rows, end)));
        if (in_place) std::fill_n(m.block + k * block_rows * m.columns, copied[k] * m.columns, 0.0);
        copied[k] = 0;
    }
    for (i64 k = 0; k < classes; ++k)
        for (i64 r = copied[k]; r < m.fill[k]; ++r) {
            double* out = m.block + (k * block_rows + r) * m.columns;
            if (in_place) std::copy_n(blocks[k].features[r], X.d, out);
            std::copy_n(blocks[k].targets[r], target_columns, out + X.d);
        }
}

// The blocks that were added to `other` join those of m: means move by their share of the weight, and how far they lie
// apart enters the upper triangle of the scatter as one more row.
inline void moments_merge(const Moments& m, const AddedMoments& other, i64 classes) {
    const i64 q = m.columns, ld = m.panels() * panel;
    std::vector<double> apart(static_cast<std::size_t>(classes * ld), 0.0);
    for (i64 k = 0; k < classes; ++k) {
        const double before = m.weight[k], total = before + other.weight[k];
        const double share = total > 0 ? other.weight[k] / total : 0.0, size = std::sqrt(before * share);
        double *high = m.high + k * q, *low = m.low + k * q;
        for (i64 j = 0; j < q; ++j) {
            const double h = other.high[k * q + j], l = other.low[k * q + j];
            const double away = before == 0 ? 0.0 : (h - high[j]) + (l - low[j]);
            apart[k * ld + j] = size * away;
            const Twofold moved = before == 0 ? Twofold{h, l} : two_sum(high[j], low[j] + share * away);
            high[j] = moved.high, low[j] = moved.low;
        }
        m.weight[k] = total;
        m.rows[k] += other.rows[k];
    }
    for (i64 t = 0; t < (m.pooled ? 1 : classes); ++t) {
        const i64 first = m.pooled ? 0 : t, last = m.pooled ? classes : t + 1;
        for (i64 i = 0; i < q; ++i) {
            double* __restrict sum = m.scatter + (t * ld + i) * ld;
            const double* added = other.scatter + (t * ld + i) * ld;
            const i64 begin = i / panel * panel;
            for (i64 j = begin; j < ld; ++j) sum[j] += added[j];
            for (i64 k = first; k < last; ++k) {
                const double* row = apart.data() + k * ld;
                for (i64 j = begin; j < ld; ++j) sum[j] += row[i] * row[j];
            }
        }
    }
}

inline void moments_flush(const Moments& m, i64 classes) {
    const std::vector<Block> blocks = waiting(m, classes, m.columns);
    std::vector<double> work;
    for (i64 k = 0; k < classes; ++k) flush(m, k, m.columns, blocks[k], work, {});
}

}  // namespace separatrix
