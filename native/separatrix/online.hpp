// Rules that look at one row at a time, and the two passes that drive them: one vector against its
// signs, or one vector a class by Kesler's construction (Duda & Hart 1973).
//
// Vectors are lifted (d weights, then the bias) and lie one behind the other. A row with margin m moves
// one vector along y x (binary: m = y s), or two along +x and -x (Kesler: m = s_true - s_best wrong).
// A rule says whether a margin moves it (`moves`) and by how much (`push`); `tick` counts the look. No margin above
// `quiet` moves it (not a number: that depends on its weights).
//   (A) averaged      as the perceptron; beside w runs u, the sum of t a x over updates after t looks:
//                     the average of all weights after each of T looks is w - u/T
//   (M) margin        m <= margin, or m <= margin |w|: w += c y x
//   (PA)              m < 1: w += c tau y x, tau from the loss 1 - m and |x|^2 (Crammer et al. 2006)
//   (AROW)            m < 1: w += c alpha y S x, S -= beta S x x' S (Crammer, Kulesza, Dredze 2009)
// In every test a margin that is not a number moves, so that it never passes for success.
#pragma once
#include <cmath>
#include <limits>
#include <vector>

#include "perceptron.hpp"

namespace separatrix {

struct Pull {       // one vector that a row moves
    i64 vector;
    double sign;    // along +x or -x
    double score;   // of the row before it
};

struct Vectors {
    double* w;  // count times d + 1
    i64 count, d;
    bool bias;

    double* lifted(i64 k) const { return w + k * (d + 1); }
    template <class Rows>
    double dot(const Rows& X, i64 i, i64 k) const {
        return X.dot(i, lifted(k)) + lifted(k)[d];
    }
    // The score that the model shows, where s is that of the weights which learn.
    template <class Rows>
    double shown(const Rows&, i64, i64, double s) const {
        return s;
    }
    template <class Rows>
    void add(const Rows& X, i64 i, i64 k, double a) const {
        X.axpy(a, i, lifted(k));
        if (bias) lifted(k)[d] += a;
    }
};

inline bool plain_moves(double m, bool tie_lost) { return !(m > 0 || (m == 0 && !tie_lost)); }

struct PlainRule : Vectors {
    bool zero_is_mistake;

    double quiet() const { return 0; }
    void tick(i64) {}
    bool moves(const Pull*, int, double m, bool tie_lost) const { return plain_moves(m, tie_lost); }
    template <class Rows>
    void push(const Rows& X, i64 i, double c, double, const Pull* pull, int pulls) {
        for (int p = 0; p < pulls; ++p) add(X, i, pull[p].vector, pull[p].sign * c);
    }
    template <class Rows>
    double score(const Rows& X, i64 i, i64 k) const {
        return dot(X, i, k);
    }
};

struct AveragedRule : Vectors {
    bool zero_is_mistake;
    double* total;  // u of each vector
    i64* looks;     // T of each vector

    double quiet() const { return 0; }
    void tick(i64 k) { ++looks[k]; }
    bool moves(const Pull*, int, double m, bool tie_lost) const { return plain_moves(m, tie_lost); }
    template <class Rows>
    void push(const Rows& X, i64 i, double c, double, const Pull* pull, int pulls) {
        for (int p = 0; p < pulls; ++p) {
            const i64 k = pull[p].vector;
            const double a = pull[p].sign * c, ta = static_cast<double>(looks[k]) * a;
            double *wk = lifted(k), *uk = total + k * (d + 1);
            each(X, i, [=](i64 j, double x) {
                wk[j] += a * x;
                uk[j] += ta * x;
            });
            if (bias) wk[d] += a, uk[d] += ta;
        }
    }
    template <class Rows>
    double shown(const Rows& X, i64 i, i64 k, double s) const {
        if (looks[k] == 0) return s;
        const double* uk = total + k * (d + 1);
        return s - (X.dot(i, uk) + uk[d]) / static_cast<double>(looks[k]);
    }
    template <class Rows>
    double score(const Rows& X, i64 i, i64 k) const {
        return shown(X, i, k, dot(X, i, k));
    }
};

struct MarginRule : Vectors {
    bool zero_is_mistake;
    double margin;
    bool relative;  // to |w|, of all vectors together where several compete
    double* norm2;  // |w|^2 of each vector, carried along, and summed afresh every 1024 updates of it
    i64* moved;     // updates of each vector

    double quiet() const { return relative ? std::numeric_limits<double>::quiet_NaN() : margin; }
    void tick(i64) {}
    bool moves(const Pull* pull, int pulls, double m, bool) const {
        if (!relative) return !(m > margin);
        double all = 0;
        if (pulls == 1)
            all = norm2[pull[0].vector];
        else
            for (i64 k = 0; k < count; ++k) all += norm2[k];
        return !(m > margin * std::sqrt(all));
    }
    template <class Rows>
    void push(const Rows& X, i64 i, double c, double, const Pull* pull, int pulls) {
        const double x2 = relative ? X.norm2(i) : 0;
        for (int p = 0; p < pulls; ++p) {
            const i64 k = pull[p].vector;
            const double a = pull[p].sign * c, before = pull[p].score - lifted(k)[d];
            add(X, i, k, a);
            if (!relative) continue;
            if (++moved[k] % 1024 == 0) {
                norm2[k] = Dense<double>{lifted(k), 1, d}.norm2(0);
            } else {
                const double next = norm2[k] + a * (2 * before + a * x2);
                norm2[k] = next > 0 ? next : 0;
            }
        }
    }
    template <class Rows>
    double score(const Rows& X, i64 i, i64 k) const {
        return dot(X, i, k);
    }
};

struct PassiveAggressiveRule : Vectors {
    bool zero_is_mistake;
    int variant;  // 0, 1, 2: PA, PA-I, PA-II
    double C;

    double quiet() const { return 1; }
    void tick(i64) {}
    bool moves(const Pull*, int, double m, bool) const { return !(m >= 1); }
    [[gnu::always_inline]] double size(double x2, double c, double m, int pulls) const {  // c tau
        const double norm2 = pulls * (x2 + (bias ? 1.0 : 0.0));
        if (norm2 == 0) return 0;  // a zero row without a bias: no weights give it a margin
        const double loss = 1 - m;
        const double tau = variant == 2 ? loss / (norm2 + 1 / (2 * C)) : loss / norm2;
        return c * (variant == 1 && tau > C ? C : tau);
    }
    template <class Rows>
    void push(const Rows& X, i64 i, double c, double m, const Pull* pull, int pulls) {
        const double a = size(X.norm2(i), c, m, pulls);
        for (int p = 0; p < pulls; ++p) add(X, i, pull[p].vector, pull[p].sign * a);
    }
    template <class Rows>
    double score(const Rows& X, i64 i, i64 k) const {
        return dot(X, i, k);
    }
};

// S diagonal: d + 1 variances a vector. z = S x is written where x has entries.
struct ArowDiagonalRule : Vectors {
    bool zero_is_mistake;
    double r;
    double* variance;
    std::vector<double> z;  // room for two times d + 1

    double quiet() const { return 1; }
    void tick(i64) {}
    bool moves(const Pull*, int, double m, bool) const { return !(m >= 1); }
    template <class Rows>
    void push(const Rows& X, i64 i, double c, double m, const Pull* pull, int pulls) {
        z.resize(static_cast<std::size_t>(2 * (d + 1)));
        double v = 0;
        for (int p = 0; p < pulls; ++p) {
            const double* s = variance + pull[p].vector * (d + 1);
            double* zp = z.data() + p * (d + 1);
            each(X, i, [=](i64 j, double x) { zp[j] = s[j] * x; });
            v += X.dot(i, zp) + (bias ? s[d] : 0.0);
        }
        const double beta = 1 / (v + r), alpha = c * ((1 - m) * beta);
        for (int p = 0; p < pulls; ++p) {
            double *s = variance + pull[p].vector * (d + 1), *wk = lifted(pull[p].vector);
            const double* zp = z.data() + p * (d + 1);
            const double a = pull[p].sign * alpha;
            each(X, i, [=](i64 j, double) {
                wk[j] += a * zp[j];
                s[j] -= beta * (zp[j] * zp[j]);
            });
            if (bias) {
                wk[d] += a * s[d];
                s[d] -= beta * (s[d] * s[d]);
            }
        }
    }
    template <class Rows>
    double score(const Rows& X, i64 i, i64 k) const {
        return dot(X, i, k);
    }
};

// S full: a symmetric (d + 1) x (d + 1) matrix a vector, its last row and column those of the bias.
struct ArowFullRule : Vectors {
    bool zero_is_mistake;
    double r;
    double* covariance;
    std::vector<double> z;

    double quiet() const { return 1; }
    void tick(i64) {}
    bool moves(const Pull*, int, double m, bool) const { return !(m >= 1); }
    template <class Rows>
    void push(const Rows& X, i64 i, double c, double m, const Pull* pull, int pulls) {
        const i64 e = d + 1;
        z.resize(static_cast<std::size_t>(2 * e));
        double v = 0;
        for (int p = 0; p < pulls; ++p) {
            const double* s = covariance + pull[p].vector * e * e;
            double* zp = z.data() + p * e;
            for (i64 j = 0; j < e; ++j) zp[j] = X.dot(i, s + j * e) + (bias ? s[j * e + d] : 0.0);
            v += X.dot(i, zp) + (bias ? zp[d] : 0.0);
        }
        const double beta = 1 / (v + r), alpha = c * ((1 - m) * beta);
        for (int p = 0; p < pulls; ++p) {
            double *s = covariance + pull[p].vector * e * e, *wk = lifted(pull[p].vector);
            const double* zp = z.data() + p * e;
            const double a = pull[p].sign * alpha;
            const i64 moved = bias ? e : d;
            for (i64 j = 0; j < moved; ++j) wk[j] += a * zp[j];
            for (i64 j = 0; j < moved; ++j) {
                const double bz = beta * zp[j];
                for (i64 l = 0; l < moved; ++l) s[j * e + l] -= bz * zp[l];
            }
        }
    }
    template <class Rows>
    double score(const Rows& X, i64 i, i64 k) const {
        return dot(X, i, k);
    }
};

// One look of vector k at row i, whose score is s: whether it moved. Inlined wherever it is called, so
// that the branch of each place is foreseen by itself.
template <class Rows, class Rule>
[[gnu::always_inline]] inline bool binary_look(const Rows& X, Rule& rule, i64 k, i64 i, i8 y, double c, double s) {
    const Pull pull{k, static_cast<double>(y), s};
    const double m = pull.sign * s;
    const bool moves = rule.moves(&pull, 1, m, rule.zero_is_mistake || y < 0);
    if (moves) rule.push(X, i, c, m, &pull, 1);
    rule.tick(k);
    return moves;
}

// One pass of vector k over positions begin .. end of `order` (null: the rows as they lie), at most
// `limit` updates; y holds -1, +1, or 0 for rows to skip. `habit` as in perceptron.hpp: null, or 1 where
// the last look at a row moved the vector.
template <class Rows, class Rule>
Moves binary_pass(const Rows& X, Rule& rule, i64 k, const i8* y, const double* step, const i64* order, i64 begin,
                  i64 end, i64 limit, i8* habit) {
    const i64 ahead = X.ahead();
    Moves moves;
    i64 t = begin;
    for (; t < end && moves.updates < limit; ++t) {
        const i64 i = order ? order[t] : t;
        if (order && t + ahead < end) X.prefetch(order[t + ahead]);
        if (y[i] == 0) continue;
        const double c = step ? step[i] : 1.0;
        if (habit && habit[i]) {
            if (binary_look(X, rule, k, i, y[i], c, rule.dot(X, i, k))) [[likely]] {
                ++moves.updates;
                moves.last = t;
            } else {
                habit[i] = 0;
            }
        } else if (binary_look(X, rule, k, i, y[i], c, rule.dot(X, i, k))) [[unlikely]] {
            ++moves.updates;
            moves.last = t;
            if (habit) habit[i] = 1;
        }
    }
    moves.visits = t - begin;
    return moves;
}

// The same pass in the order of the rows, without a limit, for a stream that is judged while it is learned: out[i] is the
// model's score of row i before the row is learned from. Rows with y = 0 are scored and not learned from.
template <class Rows, class Rule>
Moves scored_pass(const Rows& X, Rule& rule, i64 k, const i8* y, const double* step, i64 begin, i64 end, double* out) {
    Moves moves;
    for (i64 i = begin; i < end; ++i) {
        const double s = rule.dot(X, i, k);
        out[i] = rule.shown(X, i, k, s);
        if (y[i] == 0) continue;
        if (binary_look(X, rule, k, i, y[i], step ? step[i] : 1.0, s)) {
            ++moves.updates;
            moves.last = i;
        }
    }
    moves.visits = end - begin;
    return moves;
}

// One pass of all vectors by Kesler's rule; y holds the number of each row's vector, or -1 to skip it.
// A vector competes once a row of its own has been seen; of equal scores the first is the rival.
template <class Rows, class Rule>
Moves kesler_pass(const Rows& X, Rule& rule, i8* seen, const i32* y, const double* step, const i64* order, i64 begin,
                  i64 end, i64 limit) {
    const i64 ahead = X.ahead();
    std::vector<double> score(static_cast<std::size_t>(rule.count));
    Moves moves;
    i64 t = begin;
    for (; t < end && moves.updates < limit; ++t) {
        const i64 i = order ? order[t] : t;
        if (order && t + ahead < end) X.prefetch(order[t + ahead]);
        const i64 own = y[i];
        if (own < 0) continue;
        seen[own] = 1;
        for (i64 k = 0; k < rule.count; ++k) score[static_cast<std::size_t>(k)] = rule.dot(X, i, k);
        Pull pull[2] = {{own, 1.0, score[static_cast<std::size_t>(own)]}, {-1, -1.0, 0.0}};
        for (i64 k = 0; k < rule.count; ++k) {  // without branches, which could not be foreseen
            const double s = score[static_cast<std::size_t>(k)];
            const bool ahead_of_it = (seen[k] != 0) & (k != own) & ((pull[1].vector < 0) | (s > pull[1].score));
            pull[1].vector = ahead_of_it ? k : pull[1].vector;
            pull[1].score = ahead_of_it ? s : pull[1].score;
        }
        if (pull[1].vector >= 0) {
            const double m = pull[0].score - pull[1].score;
            if (rule.moves(pull, 2, m, rule.zero_is_mistake || pull[1].vector < own)) {
                rule.push(X, i, step ? step[i] : 1.0, m, pull, 2);
                ++moves.updates;
                moves.last = t;
            }
        }
        for (i64 k = 0; k < rule.count; ++k) rule.tick(k);
    }
    moves.visits = t - begin;
    return moves;
}

// The same for a stream: out[i, k] is the model's score of row i by vector k before the row is learned from.
template <class Rows, class Rule>
Moves scored_kesler_pass(const Rows& X, Rule& rule, i8* seen, const i32* y, const double* step, i64 begin, i64 end,
                         double* out) {
    Moves moves;
    for (i64 i = begin; i < end; ++i) {
        for (i64 k = 0; k < rule.count; ++k) out[i * rule.count + k] = rule.score(X, i, k);
        const Moves one = kesler_pass(X, rule, seen, y, step, nullptr, i, i + 1, 1);
        moves.updates += one.updates;
        if (one.updates) moves.last = i;
    }
    moves.visits = end - begin;
    return moves;
}

}  // namespace separatrix
