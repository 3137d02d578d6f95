// Passes over short dense rows, d <= 16, with the vectors in registers: the lanes and the bits are those
// of online.hpp.
#pragma once
#include <type_traits>

#include "online.hpp"
#include "short_rows.hpp"

namespace separatrix {

// Eight rows are scored at once; where no habit is kept, after a move one by one until eight in a row have
// not moved.
template <class T, int v, class Rule>
Moves short_blocks(const Dense<T>& X, Rule& rule, i64 k, const i8* y, const double* step, i64 begin, i64 end,
                   i64 limit, i8* habit) {
    constexpr bool averages = std::is_same_v<Rule, AveragedRule>;
    const ShortRows<T, v> rows{X};
    const i64 d = X.d;
    double *w = rule.lifted(k), *u = w;
    i64 looks = 0;
    if constexpr (averages) u = rule.total + k * (d + 1), looks = rule.looks[k];
    v8 w0 = rows.head(w), w1 = rows.tail(w), u0 = rows.head(u), u1 = rows.tail(u);
    double b = w[d], ub = u[d];
    const v8 reach = every(averages ? 0.0 : -1.0);  // suspects have m <= 0, or m <= 1
    Moves moves;
    const auto moved_by = [&](i64 i, double m) __attribute__((always_inline)) {
        return rule.moves(nullptr, 1, m, rule.zero_is_mistake || y[i] < 0);
    };
    const auto push = [&](i64 i, double m, v8 x0, v8 x1) __attribute__((always_inline)) {
        double a = step ? step[i] : 1.0;
        if constexpr (!averages) a = rule.size(sum(rows.products(x0, x1, x0, x1)), a, m, 1);
        return y[i] * a;
    };
    const auto move = [&](i64 i, double a, v8 x0, v8 x1) __attribute__((always_inline)) {
        if constexpr (v) w0 += every(a) * x0;
        w1 += every(a) * x1;
        if (rule.bias) b += a;
        if constexpr (averages) {
            const double ta = static_cast<double>(looks) * a;
            if constexpr (v) u0 += every(ta) * x0;
            u1 += every(ta) * x1;
            if (rule.bias) ub += ta;
        }
        ++moves.updates;
        moves.last = i;
    };
    const auto visit = [&](i64 i, double s) __attribute__((always_inline)) {
        if (y[i] == 0 || !moved_by(i, y[i] * s)) return false;
        const v8 x0 = rows.head(X.row(i)), x1 = rows.tail(X.row(i));
        move(i, push(i, y[i] * s, x0, x1), x0, x1);
        return true;
    };
    const auto eight = [&](i64 at) __attribute__((always_inline)) {
        v8 products[8];
        for (int r = 0; r < 8; ++r)
            products[r] = rows.products(rows.head(X.row(at + r)), rows.tail(X.row(at + r)), w0, w1);
        return sum_each(products) + every(b);
    };
    const auto suspects_among = [&](i64 at, v8 s) __attribute__((always_inline)) { return not_positive(s * load(y + at) + reach); };
    i64 t = begin, quiet = 8;  // rows since the last move
    while (t < end && moves.updates < limit) {
        if (quiet < 8 || t + 8 > end) {
            const bool moved = visit(t, sum(rows.products(rows.head(X.row(t)), rows.tail(X.row(t)), w0, w1)) + b);
            quiet = moved ? 0 : quiet + 1;
            if (habit) habit[t] = moved;
            looks += y[t++] != 0;
            continue;
        }
        if constexpr (!averages)
            if (habit && t + 16 <= end) {
                // The step of the row that is expected to move waits for its score, and all later ones for the step:
                // it comes first, and that the rows before it stay is seen meanwhile.
                const unsigned expected = marked(habit + t) | marked(habit + t + 8) << 8;
                if (expected) {
                    const int r = __builtin_ctz(expected);
                    const v8 x0 = rows.head(X.row(t + r)), x1 = rows.tail(X.row(t + r));
                    const double m = y[t + r] * (sum(rows.products(x0, x1, w0, w1)) + b);
                    const double a = push(t + r, m, x0, x1);
                    unsigned before = suspects_among(t, eight(t));
                    if (r > 8) before |= suspects_among(t + 8, eight(t + 8)) << 8;
                    if ((before & ((1u << r) - 1)) == 0 && y[t + r] != 0 && moved_by(t + r, m)) [[likely]] {
                        move(t + r, a, x0, x1);
                        t += r + 1;
                        continue;
                    }
                }
            }
        const v8 s = eight(t);
        unsigned suspects = suspects_among(t, s);
        u64 counted;  // labels are -1, +1 or 0: the lowest bit says whether a row counts
        std::memcpy(&counted, y + t, 8);
        counted &= 0x0101010101010101u;
        const auto counted_before = [&](i64 r) {
            return __builtin_popcountll(r < 8 ? counted & ((u64{1} << (8 * r)) - 1) : counted);
        };
        double score[8];
        store(score, s);
        const unsigned expected = habit ? marked(habit + t) : 0;
        const i64 before = looks;
        if (expected == 0) {
            if (suspects == 0) [[likely]] {
                looks += counted_before(8);
                t += 8;
                continue;
            }
        } else {  // where to go on is known before the sums are
            const int r = __builtin_ctz(expected);
            const i64 next = t + r + 1;
            looks = before + counted_before(r);
            if ((suspects & ((2u << r) - 1)) == 1u << r && visit(t + r, score[r])) [[likely]] {
                looks = before + counted_before(r + 1);
                t = next;
                continue;
            }
        }
        i64 looked = 8;
        for (; suspects; suspects &= suspects - 1) {
            const int r = __builtin_ctz(suspects);
            looks = before + counted_before(r);
            if (!visit(t + r, score[r])) continue;
            looked = r + 1;
            quiet = habit ? 8 : 0;
            break;
        }
        if (habit) {
            std::memset(habit + t, 0, static_cast<std::size_t>(looked));
            if (suspects) habit[t + looked - 1] = 1;
        }
        looks = before + counted_before(looked);
        t += looked;
    }
    rows.save(w, w0, w1);
    w[d] = b;
    if constexpr (averages) {
        rows.save(u, u0, u1);
        u[d] = ub;
        rule.looks[k] = looks;
    }
    moves.visits = t - begin;
    return moves;
}

template <class T, int v>
Moves short_arow(const Dense<T>& X, ArowDiagonalRule& rule, i64 k, const i8* y, const double* step, i64 begin, i64 end,
                 i64 limit, i8* habit) {
    const ShortRows<T, v> rows{X};
    const i64 d = X.d;
    double *w = rule.lifted(k), *s = rule.variance + k * (d + 1);
    v8 w0 = rows.head(w), w1 = rows.tail(w), s0 = rows.head(s), s1 = rows.tail(s);
    double b = w[d], sb = s[d];
    Moves moves;
    i64 t = begin;
    const auto look = [&]() __attribute__((always_inline)) {
        const v8 x0 = rows.head(X.row(t)), x1 = rows.tail(X.row(t));
        const double m = y[t] * (sum(rows.products(x0, x1, w0, w1)) + b);
        if (m >= 1) return false;
        const v8 z0 = s0 * x0, z1 = s1 * x1;
        const double variance = 0.0 + (sum(rows.products(x0, x1, z0, z1)) + (rule.bias ? sb : 0.0));
        const double beta = 1 / (variance + rule.r), alpha = (step ? step[t] : 1.0) * ((1 - m) * beta);
        const double a = y[t] * alpha;
        if constexpr (v) w0 += every(a) * z0, s0 += every(-beta) * (z0 * z0);
        w1 += every(a) * z1;
        s1 += every(-beta) * (z1 * z1);
        if (rule.bias) {
            b += a * sb;
            sb -= beta * (sb * sb);
        }
        ++moves.updates;
        moves.last = t;
        return true;
    };
    for (; t < end && moves.updates < limit; ++t) {
        if (y[t] == 0) continue;
        if (habit && habit[t]) {
            if (!look()) [[unlikely]] habit[t] = 0;
        } else if (look()) [[unlikely]] {
            if (habit) habit[t] = 1;
        }
    }
    rows.save(w, w0, w1);
    rows.save(s, s0, s1);
    w[d] = b;
    s[d] = sb;
    moves.visits = t - begin;
    return moves;
}

template <class T>
Moves binary_pass(const Dense<T>& X, AveragedRule& rule, i64 k, const i8* y, const double* step, const i64* order,
                  i64 begin, i64 end, i64 limit, i8* habit) {
    if (!order && X.d <= 8) return short_blocks<T, 0>(X, rule, k, y, step, begin, end, limit, habit);
    if (!order && X.d <= 16) return short_blocks<T, 1>(X, rule, k, y, step, begin, end, limit, habit);
    return binary_pass<Dense<T>, AveragedRule>(X, rule, k, y, step, order, begin, end, limit, habit);
}

template <class T>
Moves binary_pass(const Dense<T>& X, PassiveAggressiveRule& rule, i64 k, const i8* y, const double* step,
                  const i64* order, i64 begin, i64 end, i64 limit, i8* habit) {
    if (!order && X.d <= 8) return short_blocks<T, 0>(X, rule, k, y, step, begin, end, limit, habit);
    if (!order && X.d <= 16) return short_blocks<T, 1>(X, rule, k, y, step, begin, end, limit, habit);
    return binary_pass<Dense<T>, PassiveAggressiveRule>(X, rule, k, y, step, order, begin, end, limit, habit);
}

template <class T>
Moves binary_pass(const Dense<T>& X, ArowDiagonalRule& rule, i64 k, const i8* y, const double* step, const i64* order,
                  i64 begin, i64 end, i64 limit, i8* habit) {
    if (!order && X.d <= 8) return short_arow<T, 0>(X, rule, k, y, step, begin, end, limit, habit);
    if (!order && X.d <= 16) return short_arow<T, 1>(X, rule, k, y, step, begin, end, limit, habit);
    return binary_pass<Dense<T>, ArowDiagonalRule>(X, rule, k, y, step, order, begin, end, limit, habit);
}

}  // namespace separatrix
