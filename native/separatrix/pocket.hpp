// The pocket algorithm with ratchet (Gallant 1990). The perceptron runs; when a run of rows that it got
// right ends and was longer than the run that put the present weights into the pocket, the true errors
// of its weights are counted once, until they reach those of the pocket or all rows are seen (K1); with
// fewer errors they replace it (K2). Counts may look at no more than `share` times the rows visited.
#pragma once
#include <algorithm>

#include "perceptron.hpp"

namespace separatrix {

struct Pocket {
    double* w;             // in the pocket: d weights, then the bias
    double* error;         // its errors: the weights c_i of the rows it gets wrong
    const double* weight;  // c_i, null: 1
    i64* run;              // rows got right one after the other
    i64* best_run;         // of the pocket
    i64* visits;           // of the learning, so far
    i64* counts;           // counts made
    i64* count_visits;     // rows looked at by counts
    double share;
};

// Whether the current weights replace those in the pocket.
template <class Rows>
bool pocket_count(const Rows& X, const Perceptron& p, const Pocket& pocket) {
    double error = 0;
    i64 i = 0;
    for (; i < X.n && error < *pocket.error; ++i)
        if (p.y[i] != 0 && is_mistake(p, p.y[i], X.dot(i, p.w) + p.w[X.d]))
            error += pocket.weight ? pocket.weight[i] : 1.0;
    ++*pocket.counts;
    *pocket.count_visits += i;
    if (!(error < *pocket.error)) return false;
    std::copy(p.w, p.w + X.d + 1, pocket.w);
    *pocket.error = error;
    *pocket.best_run = *pocket.run;
    return true;
}

template <class Rows>
void pocket_check(const Rows& X, const Perceptron& p, const Pocket& pocket) {
    if (*pocket.run > *pocket.best_run &&
        static_cast<double>(*pocket.count_visits) <= pocket.share * static_cast<double>(*pocket.visits))
        pocket_count(X, p, pocket);
}

// One pass; it ends early when the pocket has no error left.
template <class Rows>
Moves pocket_pass(const Rows& X, const Perceptron& p, const Pocket& pocket, const i64* order, i64 begin, i64 end,
                  i64 limit) {
    const i64 ahead = X.ahead();
    Moves m;
    i64 t = begin;
    for (; t < end && m.updates < limit; ++t) {
        const i64 i = order ? order[t] : t;
        if (order && t + ahead < end) X.prefetch(order[t + ahead]);
        ++*pocket.visits;
        if (p.y[i] == 0) continue;
        if (is_mistake(p, p.y[i], X.dot(i, p.w) + p.w[X.d])) {
            pocket_check(X, p, pocket);
            if (*pocket.error == 0) break;
            move(X, p, i, m.updates);
            m.last = t;
            *pocket.run = 0;
        } else {
            ++*pocket.run;
        }
    }
    m.visits = t - begin;
    return m;
}

}  // namespace separatrix
