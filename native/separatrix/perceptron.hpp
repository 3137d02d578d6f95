// The perceptron's update in every order of rows (Rosenblatt 1958; Novikoff 1962).
//
// Given rows x_i with labels y_i in {-1, +1} (0: the row is skipped), a lifted vector (w, b) and
// steps c_i > 0, a row is a mistake (P1) when y_i s < 0 with s = w . x_i + b, or when s = 0 and the
// tie rule says so (a score that is not a number is always one); then (P2) w += c_i y_i x_i and, with a
// bias, b += c_i y_i. The kernels move and count; when to stop is the caller's business. Updated rows are
// appended to `log` where there is one.
//
// A row that was a mistake in one pass is likely to be one in the next. A pass that knows (`habit`) takes
// such rows on a path of their own, where the processor foresees the update; otherwise every mistake
// waits for its sum, and the rows behind it with it.
#pragma once
#include "chance.hpp"
#include "linear.hpp"

namespace separatrix {

struct Perceptron {
    const i8* y;         // labels, 0 for rows to skip
    const double* step;  // c_i / |x_i| where rows are weighted or scaled, else null: 1
    double* w;           // d weights, then the bias
    bool bias;
    bool zero_is_mistake;  // the tie rule: true "mistake", false "positive" (sign(0) = +1)
    i64* log;              // null, or room for every update of the call
    i8* habit = nullptr;   // null, or 1 where the last look at a row found a mistake
};

struct Moves {
    i64 updates = 0;
    i64 visits = 0;
    i64 last = -1;  // position of the last update
};

inline bool is_mistake(const Perceptron& p, i8 y, double s) {  // (P1)
    return is_wrong(y, s, p.zero_is_mistake);
}

template <class Rows>
inline void move(const Rows& X, const Perceptron& p, i64 i, i64& updates) {  // (P2)
    const double a = p.step ? p.y[i] * p.step[i] : p.y[i];
    X.axpy(a, i, p.w);
    if (p.bias) p.w[X.d] += a;
    if (p.log) p.log[updates] = i;
    ++updates;
}

// One pass over positions begin .. end of `order` (null: the rows as they lie), at most `limit` updates.
template <class Rows>
Moves perceptron_pass(const Rows& X, const Perceptron& p, const i64* order, i64 begin, i64 end, i64 limit) {
    const i64 ahead = X.ahead();
    Moves m;
    i64 t = begin;
    for (; t < end && m.updates < limit; ++t) {
        const i64 i = order ? order[t] : t;
        if (p.y[i] == 0) continue;
        const auto wrong = [&] {
            const double s = order && t + ahead < end ? X.dot(i, p.w, order[t + ahead]) : X.dot(i, p.w);
            return is_mistake(p, p.y[i], s + p.w[X.d]);
        };
        if (p.habit && p.habit[i]) {
            if (wrong()) [[likely]] {
                move(X, p, i, m.updates);
                m.last = t;
            } else {
                p.habit[i] = 0;
            }
        } else if (wrong()) [[unlikely]] {
            move(X, p, i, m.updates);
            m.last = t;
            if (p.habit) p.habit[i] = 1;
        }
    }
    m.visits = t - begin;
    return m;
}

// Back to row 0 after every update; goes on at `begin`, and ends after `limit` updates, about
// `budget` visits (so that the caller can be interrupted) or n rows without a mistake.
template <class Rows>
Moves perceptron_restart(const Rows& X, const Perceptron& p, i64 begin, i64 limit, i64 budget) {
    Moves m;
    i64 t = begin;
    while (t < X.n && m.updates < limit && m.visits < budget) {
        ++m.visits;
        if (p.y[t] != 0 && is_mistake(p, p.y[t], X.dot(t, p.w) + p.w[X.d])) {
            move(X, p, t, m.updates);
            t = 0;
        } else {
            ++t;
        }
    }
    m.last = t;  // where to go on; n: no mistake is left
    return m;
}

// The worst violator each time: least y s (over |x_i| where rows are scaled), the first of equals.
template <class Rows>
Moves perceptron_worst(const Rows& X, const Perceptron& p, const double* norm, i64 limit, i64 budget) {
    Moves m;
    while (m.updates < limit && m.visits < budget) {
        i64 worst = -1;
        double least = 0;
        for (i64 i = 0; i < X.n; ++i) {
            if (p.y[i] == 0) continue;
            const double s = X.dot(i, p.w) + p.w[X.d];
            if (!is_mistake(p, p.y[i], s)) continue;
            const double margin = norm ? p.y[i] * s / norm[i] : p.y[i] * s;
            if (worst < 0 || margin < least) worst = i, least = margin;
        }
        m.visits += X.n;
        if (worst < 0) {
            m.last = X.n;
            return m;
        }
        move(X, p, worst, m.updates);
    }
    return m;
}

// Any violator, each with the same chance: rows are drawn until one is a mistake; after n draws in
// vain all rows are looked at and one of the violators found is drawn. `found` has room for n rows.
template <class Rows>
Moves perceptron_any(const Rows& X, const Perceptron& p, u64& state, i64* found, i64 limit, i64 budget) {
    Moves m;
    const auto wrong = [&](i64 i) {
        return p.y[i] != 0 && is_mistake(p, p.y[i], X.dot(i, p.w) + p.w[X.d]);
    };
    while (m.updates < limit && m.visits < budget) {
        i64 pick = -1;
        for (i64 draw = 0; draw < X.n && pick < 0; ++draw, ++m.visits) {
            const i64 i = static_cast<i64>(below(static_cast<u64>(X.n), state));
            if (wrong(i)) pick = i;
        }
        if (pick < 0) {
            i64 k = 0;
            for (i64 i = 0; i < X.n; ++i)
                if (wrong(i)) found[k++] = i;
            m.visits += X.n;
            if (k == 0) {
                m.last = X.n;
                return m;
            }
            pick = found[below(static_cast<u64>(k), state)];
        }
        move(X, p, pick, m.updates);
    }
    return m;
}

}  // namespace separatrix
