// Coordinate descent on a quadratic with an elastic-net penalty (Friedman, Hastie and Tibshirani 2010): one
// pass over listed coordinates. Each is put where it minimises
//
//   g.(v - w) + |sum_j (v_j - w_j) z_j|^2/2 + ridge/2 |v|^2 + alpha |v|_1
//
// with all others held. What a pass returns, the sum of (curvature)(step)^2, is at most twice what it gained.
#pragma once
#include <vector>

#include "rows.hpp"

namespace separatrix {

// The number nearest to a among those within t of it that is nearest to zero.
inline double shrunk(double a, double t) { return a > t ? a - t : a < -t ? a + t : 0.0; }

struct ElasticNet {
    double alpha, ridge;
    // The best value of a coordinate that is v now, where the quadratic has this slope and this curvature.
    double best(double v, double slope, double curvature) const {
        return shrunk(curvature * v - slope, alpha) / (curvature + ridge);
    }
};

// sum_i h_i x_ji^2, in the lanes of a dot product
template <class T>
inline double weighted_norm2(const Dense<T>& X, i64 j, const double* h) {
    const T* x = X.row(j);
    v8 s{};
    i64 k = 0;
    for (; k + 8 <= X.d; k += 8) s += load(h + k) * (load(x + k) * load(x + k));
    if (k < X.d) s += load_part(h + k, X.d - k) * (load_part(x + k, X.d - k) * load_part(x + k, X.d - k));
    return sum(s);
}
template <class T, class I>
inline double weighted_norm2(const Csr<T, I>& X, i64 j, const double* h) {
    const T* x = X.value + X.start[j];
    const I* c = X.column + X.start[j];
    const i64 m = static_cast<i64>(X.start[j + 1] - X.start[j]);
    v8 s0{}, s1{};
    i64 k = 0;
    for (; k + 16 <= m; k += 16) {
        s0 += picked(h, c + k) * (load(x + k) * load(x + k));
        s1 += picked(h, c + k + 8) * (load(x + k + 8) * load(x + k + 8));
    }
    double rest = 0;
    for (; k < m; ++k) rest += h[c[k]] * (static_cast<double>(x[k]) * static_cast<double>(x[k]));
    return sum(s0 + s1) + rest;
}

// Where asked for, first_j = sum_i h_i z_ji and second_j = sum_i h_i z_ji^2, for listed rows of Z
template <class Rows>
void weighted_sums(const Rows& Z, const i64* order, i64 count, const double* h, double* first, double* second) {
    for (i64 t = 0; t < count; ++t) {
        const i64 j = order[t];
        if (first) first[j] = Z.dot(j, h);
        if (second) second[j] = weighted_norm2(Z, j, h);
    }
}

// The columns of sparse rows as rows: `start` has one more of them than there are columns.
template <class T, class I>
void turned(const Csr<T, I>& X, i32* start, i32* row, T* value) {
    for (i64 j = 0; j <= X.d; ++j) start[j] = 0;
    for (I k = X.start[0]; k < X.start[X.n]; ++k) ++start[X.column[k] + 1];
    for (i64 j = 0; j < X.d; ++j) start[j + 1] += start[j];
    std::vector<i32> next(start, start + X.d);
    for (i64 i = 0; i < X.n; ++i)
        for (I k = X.start[i]; k < X.start[i + 1]; ++k) {
            const i32 to = next[static_cast<std::size_t>(X.column[k])]++;
            row[to] = static_cast<i32>(i);
            value[to] = X.value[k];
        }
}

// out += sum of v_j z_j over listed rows of Z
template <class Rows>
void combine(const Rows& Z, const i64* order, i64 count, const double* v, double* out) {
    for (i64 t = 0; t < count; ++t) Z.axpy(v[order[t]], order[t], out);
}

// half += half of sum over rows begin .. end of h_i z_i z_i', and sums += sum h_i z_i, of the columns that have a place
// (0 .. width - 1, all others -1): to be added to its transpose.
template <class Rows>
void chosen_gram(const Rows& X, const double* h, const i64* place, i64 width, i64 begin, i64 end, double* sums,
                 double* half) {
    std::vector<i64> places(static_cast<std::size_t>(X.d) + 1);  // one more: a number without a place is overwritten
    std::vector<double> values(places.size());
    i64* at = places.data();
    double* z = values.data();
    for (i64 i = begin; i < end; ++i) {
        i64 count = 0;
        each(X, i, [&](i64 j, double x) {
            at[count] = place[j];
            z[count] = x;
            count += place[j] >= 0;
        });
        for (i64 a = 0; a < count; ++a) {
            const double c = h[i] * z[a];
            double* row = half + at[a] * width;
            for (i64 b = 0; b < a; ++b) row[at[b]] += c * z[b];
            row[at[a]] += 0.5 * c * z[a];
            sums[at[a]] += c;
        }
    }
}

// The rows of Z are the z_j, `moved` is sum (v_j - w_j) z_j. A free bias that has been minimised over takes from
// every z_j its part m_j along a unit vector: `along` has these m_j, `drift` their sum over (v_j - w_j), and
// `curvature` is |z_j|^2 - m_j^2.
template <class Rows>
double lasso_pass(const Rows& Z, const i64* order, i64 count, const double* g, const double* curvature,
                  const double* along, ElasticNet net, double* v, double* moved, double& drift) {
    double change = 0;
    for (i64 t = 0; t < count; ++t) {
        const i64 j = order[t];
        const double next = net.best(v[j], g[j] + (Z.dot(j, moved) - along[j] * drift), curvature[j]);
        const double step = next - v[j];
        if (step == 0) continue;
        Z.axpy(step, j, moved);
        drift += step * along[j];
        v[j] = next;
        change += (curvature[j] + net.ridge) * step * step;
    }
    return change;
}

// Ask for the beginning of a row that comes next.
template <class T>
inline void expect(const Dense<T>&, i64) {}
template <class T, class I>
inline void expect(const Csr<T, I>& X, i64 j) {
    const i64 begin = static_cast<i64>(X.start[j]), end = static_cast<i64>(X.start[j + 1]);
    for (i64 k = begin; k < end && k < begin + 64; k += 8) bring_nearer(X.value + k), bring_nearer(X.column + k);
}

// The same for z_j = sqrt(h) x_j without making them: the rows of X are the x_j, and `bent` is h sum (v_j - w_j) x_j.
template <class Rows>
double curved_pass(const Rows& X, const i64* order, i64 count, const double* h, const double* g, const double* curvature,
                   const double* along, ElasticNet net, double* v, double* bent, double& drift) {
    double change = 0;
    for (i64 t = 0; t < count; ++t) {
        const i64 j = order[t];
        if (t + 1 < count) expect(X, order[t + 1]);
        const double next = net.best(v[j], g[j] + (X.dot(j, bent) - along[j] * drift), curvature[j]);
        const double step = next - v[j];
        if (step == 0) continue;
        each(X, j, [&](i64 i, double x) { bent[i] += (step * x) * h[i]; });
        drift += step * along[j];
        v[j] = next;
        change += (curvature[j] + net.ridge) * step * step;
    }
    return change;
}

// The same where the matrix A of products z_j.z_k is known: `slope` is g + A (v - w).
inline double gram_pass(const Dense<double>& A, const i64* order, i64 count, ElasticNet net, double* v, double* slope) {
    double change = 0;
    for (i64 t = 0; t < count; ++t) {
        const i64 j = order[t];
        const double curvature = A.row(j)[j], next = net.best(v[j], slope[j], curvature);
        const double step = next - v[j];
        if (step == 0) continue;
        A.axpy(step, j, slope);
        v[j] = next;
        change += (curvature + net.ridge) * step * step;
    }
    return change;
}

// Several classes at once. With u_k = sum_j (v_kj - w_kj) x_j and probabilities p_k of the rows, the quadratic is
//   g.(v - w) + sum_i c_i (sum_k p_ik u_ik^2 - (sum_k p_ik u_ik)^2)/2.
// The rows of X are the columns x_j of the table; a class has `width` coordinates, the last of which is its free
// bias if there is one more of them than columns. P and U have one row a class; `mean` is sum_k p_ik u_ik.

// A step along x_j: u += step x_j, and r += step h x_j
template <class T>
inline void bend(const Dense<T>& X, i64 j, double step, const double* h, double* r, double* u) {
    const T* x = X.row(j);
    const v8 s = every(step);
    i64 i = 0;
    for (; i + 8 <= X.d; i += 8) {
        const v8 a = s * load(x + i);
        store(u + i, load(u + i) + a);
        store(r + i, load(r + i) + a * load(h + i));
    }
    if (const i64 rest = X.d - i; rest > 0) {
        const v8 a = s * load_part(x + i, rest);
        store_part(u + i, load_part(u + i, rest) + a, rest);
        store_part(r + i, load_part(r + i, rest) + a * load_part(h + i, rest), rest);
    }
}
template <class T, class I>
inline void bend(const Csr<T, I>& X, i64 j, double step, const double* h, double* r, double* u) {
    each(X, j, [&](i64 i, double x) {
        u[i] += step * x;
        r[i] += (step * x) * h[i];
    });
}

// While coordinates of one class follow each other, its r = c p (u - mean) gives their slopes: u moves it by
// h = c p (1 - p) times as much.
template <class Rows>
double class_lasso_pass(const Rows& X, const i64* order, i64 count, i64 width, const double* c, const double* P,
                        const double* g, const double* curvature, ElasticNet net, double* v, double* U, double* mean) {
    double change = 0;
    const i64 n = X.d;
    std::vector<double> work(static_cast<std::size_t>(4 * n), 1.0);
    double *r = work.data(), *h = r + n, *before = h + n;
    const Dense<double> one{before + n, 1, n};
    for (i64 t = 0; t < count;) {
        const i64 k = order[t] / width;
        const double* p = P + k * n;
        double* u = U + k * n;
        bool moved = false;
        for (i64 i = 0; i < n; ++i) {
            const double a = (c ? c[i] : 1.0) * p[i];
            r[i] = a * (u[i] - mean[i]);
            h[i] = a * (1.0 - p[i]);
            before[i] = u[i];
        }
        for (; t < count && order[t] / width == k; ++t) {
            const i64 q = order[t], j = q % width;
            const bool bias = j == X.n;
            const double slope = g[q] + (bias ? one.dot(0, r) : X.dot(j, r));
            const ElasticNet own = bias ? ElasticNet{0, 0} : net;
            const double next = own.best(v[q], slope, curvature[q]), step = next - v[q];
            if (step == 0) continue;
            if (bias)
                bend(one, 0, step, h, r, u);
            else
                bend(X, j, step, h, r, u);
            v[q] = next;
            moved = true;
            change += (curvature[q] + own.ridge) * step * step;
        }
        if (moved)
            for (i64 i = 0; i < n; ++i) mean[i] += p[i] * (u[i] - before[i]);
    }
    return change;
}

}  // namespace separatrix
