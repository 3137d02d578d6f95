// The perceptron's pass over dense rows of which something is known: short ones stay in registers, long ones of
// float32 are mostly judged in single precision. The same weights as in perceptron.hpp, to the bit.
#pragma once
#include "narrow.hpp"
#include "perceptron.hpp"
#include "short_rows.hpp"

namespace separatrix {

// The weights of a run over short rows.
template <class T, int v>
struct ShortRun {
    const Dense<T>& X;
    const Perceptron& p;
    ShortRows<T, v> rows{X};
    v8 w0 = rows.head(p.w), w1 = rows.tail(p.w);
    double b = p.w[X.d];
    Moves m = {};

    v8 products(const T* r) const { return rows.products(rows.head(r), rows.tail(r), w0, w1); }
    bool wrong(i64 i, double s) const { return p.y[i] != 0 && is_mistake(p, p.y[i], s); }
    void update(i64 i, i64 position) {
        const T* r = X.row(i);
        const double a = p.step ? p.y[i] * p.step[i] : p.y[i];
        if constexpr (v) w0 += every(a) * rows.head(r);
        w1 += every(a) * rows.tail(r);
        if (p.bias) b += a;
        if (p.log) p.log[m.updates] = i;
        ++m.updates;
        m.last = position;
    }
    Moves end(i64 visits) {
        rows.save(p.w, w0, w1);
        p.w[X.d] = b;
        m.visits = visits;
        return m;
    }
};

// Rows as they lie: eight are scored at once; after a mistake the scan goes on behind it.
template <class T, int v>
Moves short_pass(const Dense<T>& X, const Perceptron& p, i64 begin, i64 end, i64 limit) {
    ShortRun<T, v> run{X, p};
    i64 t = begin;
    while (t + 8 <= end && run.m.updates < limit) {
        v8 a[8];
        for (int r = 0; r < 8; ++r) a[r] = run.products(X.row(t + r));
        const v8 s = sum_each(a) + every(run.b);
        unsigned suspects = not_positive(s * load(p.y + t));
        const unsigned expected = p.habit ? marked(p.habit + t) : 0;
        double score[8];
        store(score, s);
        if (expected == 0) {
            if (suspects == 0) [[likely]] {
                t += 8;
                continue;
            }
        } else {  // where to go on is known before the sums are
            const int r = __builtin_ctz(expected);
            const i64 next = t + r + 1;
            if ((suspects & ((2u << r) - 1)) == 1u << r && run.wrong(t + r, score[r])) [[likely]] {
                run.update(t + r, t + r);
                t = next;
                continue;
            }
        }
        i64 looked = 8;
        for (; suspects; suspects &= suspects - 1) {
            const int r = __builtin_ctz(suspects);
            if (!run.wrong(t + r, score[r])) continue;
            run.update(t + r, t + r);
            looked = r + 1;
            break;
        }
        if (p.habit) {
            std::memset(p.habit + t, 0, static_cast<std::size_t>(looked));
            if (suspects) p.habit[t + looked - 1] = 1;
        }
        t += looked;
    }
    for (; t < end && run.m.updates < limit; ++t) {
        const bool moves = run.wrong(t, sum(run.products(X.row(t))) + run.b);
        if (moves) run.update(t, t);
        if (p.habit) p.habit[t] = moves;
    }
    return run.end(t - begin);
}

// Rows in an order of their own: they are asked for twice, from memory long before and from the second-level
// cache shortly before they are wanted.
template <class T, int v>
Moves short_ordered(const Dense<T>& X, const Perceptron& p, const i64* order, i64 begin, i64 end, i64 limit) {
    constexpr i64 far = 48, near = 6;
    const auto soon = [&](i64 t) { return order[t < end ? t : end - 1]; };
    ShortRun<T, v> run{X, p};
    i64 t = begin;
    for (; t < end && run.m.updates < limit; ++t) {
        X.prefetch(soon(t + far));
        const T* next = X.row(soon(t + near));
        __builtin_prefetch(next, 0, 3);
        __builtin_prefetch(next + X.d - 1, 0, 3);
        const i64 i = order[t];
        if (p.y[i] == 0) continue;
        const bool wrong = is_mistake(p, p.y[i], sum(run.products(X.row(i))) + run.b);
        if (wrong) [[unlikely]] run.update(i, t);
        if (p.habit) p.habit[i] = wrong;
    }
    return run.end(t - begin);
}

// The same pass for longer rows of float32, most of them judged in single precision.
inline Moves narrow_pass(const Dense<float>& X, const Perceptron& p, i64 begin, i64 end, i64 limit) {
    Narrow near(p.w, X.d);
    Moves m;
    i64 t = begin;
    const auto update = [&] {
        const double a = p.step ? p.y[t] * p.step[t] : p.y[t];
        near.axpy(a, X.row(t), p.w);
        if (p.bias) p.w[X.d] += a;
        if (p.log) p.log[m.updates] = t;
        ++m.updates;
        m.last = t;
    };
    const auto wrong = [&](const Narrow::Look& look) {
        return look.wrong() || (!look.right() && is_mistake(p, p.y[t], X.dot(t, p.w) + p.w[X.d]));
    };
    for (; t < end && m.updates < limit; ++t) {
        if (p.y[t] == 0) continue;
        const Narrow::Look look = near.look(X.row(t), p.y[t], p.w[X.d]);
        if (p.habit && p.habit[t]) {
            if (wrong(look)) [[likely]]
                update();
            else
                p.habit[t] = 0;
        } else if (!look.right()) [[unlikely]] {
            if (!wrong(look)) continue;
            update();
            if (p.habit) p.habit[t] = 1;
        }
    }
    m.visits = t - begin;
    return m;
}

template <class T>
Moves perceptron_pass(const Dense<T>& X, const Perceptron& p, const i64* order, i64 begin, i64 end, i64 limit) {
    if (X.d <= 8)
        return order ? short_ordered<T, 0>(X, p, order, begin, end, limit) : short_pass<T, 0>(X, p, begin, end, limit);
    if (X.d <= 16)
        return order ? short_ordered<T, 1>(X, p, order, begin, end, limit) : short_pass<T, 1>(X, p, begin, end, limit);
    if constexpr (sizeof(T) == 4)
        if (!order && Narrow::serves(X.d) && end - begin >= 32) return narrow_pass(X, p, begin, end, limit);
    return perceptron_pass<Dense<T>>(X, p, order, begin, end, limit);
}

}  // namespace separatrix
