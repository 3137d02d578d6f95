// Passes of mistake-driven rules on several threads, to the bit.
//
// A pass is sequential only where a row moves the weights. Helpers judge rows ahead of it with weights of a known age;
// a row that is proved not to move the weights of today is passed over, and the others are looked at in their order.
// Timing decides only how many rows are looked at twice.
//
// Let v = (w, b) be the weights of today and v0 those of the helpers, both as stored, z = (x, 1), and s(v) the score of
// the row as it is computed, in any order of the sum. No more than N = d + 10 roundings lie on a product's way into it,
// so with u = 2^-53 and g = N u / (1 - N u)
//   |s(v) - v . z| <= g |v| |z|   (Higham 2002, chapter 3; Cauchy & Schwarz)   and therefore
//   y s(v) >= y s(v0) - ((1 + g) |v - v0| + 2 g |v0|) |z|.
// A rule does not move where y s > c (0 for perceptrons, the margin, 1 for the passive-aggressive ones): the row is
// passed over where (y s(v0) - c) / |z| is above `reach`, the bracket with a little more for the roundings of the
// comparison. Underflow is less than 2^-100 |z|, as |z| >= 1; weights or rows beyond 2^500 are never passed over.
#pragma once
#include <algorithm>
#include <atomic>
#include <cfloat>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <vector>

#include "perceptron.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace separatrix {

inline void breathe() {
#if defined(__x86_64__)
    _mm_pause();
#endif
}

// Two rounds of rows: while one is gone through, helpers judge the next. When the pass is over, no helper reads the
// rows any more.
class Lookahead {
   public:
    // How far each row at positions begin .. end is from moving the weights v, in units of |z|.
    using Judge = std::function<void(i64 begin, i64 end, const double* v, float* slack)>;
    using Run = std::function<Moves(i64 begin, i64 end, i64 limit)>;  // the pass itself, on this thread
    using Skip = std::function<void(i64 begin, i64 end)>;             // positions that do not move the weights

    // Rows that are gone through alone before helpers are asked, and rows that a helper takes at a time.
    Lookahead(i64 helpers, i64 alone, i64 block) : helpers(helpers), alone(alone), block(block) {}

    i64 rounds = 0, passed_over = 0;  // of the last pass
    const i64 helpers, alone, block;

    // What a helper's thread does until the pass is over.
    void help(i64 mine) {
        u64 at = ticket.load(std::memory_order_acquire);
        while (at != closed) {
            Round& round = both[of(at) & 1];
            const bool idle = mine >= wanted.load(std::memory_order_relaxed);
            if (idle || part(at) >= round.blocks.load(std::memory_order_relaxed))
                at = next_round(at);
            else if (ticket.compare_exchange_weak(at, at + 1, std::memory_order_acq_rel, std::memory_order_acquire)) {
                take(round, part(at));
                at = ticket.load(std::memory_order_acquire);
            }
        }
    }

    // One pass over positions begin .. end with the lifted weights v of d + 1 numbers, at most `limit` updates; a
    // lookahead serves one.
    Moves pass(const double* v, i64 d, i64 begin, i64 end, i64 limit, Judge judged, const Run& run, const Skip& skip) {
        judge = std::move(judged);
        for (Round& round : both) round.v.resize(static_cast<std::size_t>(d + 1));
        Moves total;
        i64 t = begin, window = alone, span = least_span();
        while (t < end && total.updates < limit) {
            const Moves moves = run(t, std::min(t + window, end), limit - total.updates);
            count(total, moves);
            t += moves.visits;
            if (moves.updates * rare > moves.visits) continue;
            const i64 before = t;
            t = in_rounds(v, t, end, limit, span, total, run, skip);
            window = t - before > 4 * window ? alone : std::min(2 * window, 64 * alone);  // it did not pay for long
        }
        close();
        total.visits = t - begin;
        return total;
    }

    bool is_over() const { return ticket.load(std::memory_order_acquire) == closed; }

    // No rounds any more; returns when no helper is at work.
    void close() {
        const u64 at = ticket.exchange(closed, std::memory_order_acq_rel);
        number.fetch_add(1, std::memory_order_release);
        number.notify_all();
        if (at == closed) return;
        const Round& round = both[of(at) & 1];
        const i64 taken = std::min(part(at), round.blocks.load(std::memory_order_relaxed));
        while (round.done.load(std::memory_order_acquire) < taken || !both[(of(at) + 1) & 1].is_free()) breathe();
    }

   private:
    static constexpr u64 closed = ~u64{0};
    static constexpr i64 rare = 100;             // rows for each update of a pass that is worth helpers
    static constexpr i64 most_span = i64{1} << 18;  // rows of a round

    struct Round {
        std::vector<double> v;     // the weights that its rows are judged with
        std::vector<float> slack;  // of each row
        std::unique_ptr<std::atomic<char>[]> ready;  // of each block
        std::atomic<i64> begin{0}, end{0}, blocks{0}, done{0};
        double norm2 = 0;  // |v|^2
        i64 room = 0;      // blocks

        // No helper is at work on it, for a round that is over.
        bool is_free() const { return done.load(std::memory_order_acquire) == blocks.load(std::memory_order_relaxed); }
    };
    Round both[2];
    std::atomic<u64> ticket{0};  // number of the round, and the block of it that is taken next
    std::atomic<std::uint32_t> number{0};
    std::atomic<i64> wanted{0};  // helpers that the open rows leave work for
    Judge judge;

    static u64 of(u64 at) { return at >> 32; }
    static i64 part(u64 at) { return static_cast<i64>(at & 0xffffffffu); }
    i64 least_span() const { return 4 * (helpers + 1) * block; }

    static void count(Moves& total, const Moves& moves) {
        total.updates += moves.updates;
        if (moves.updates) total.last = moves.last;
    }

    void take(Round& round, i64 k) {
        const i64 first = round.begin.load(std::memory_order_relaxed), end = round.end.load(std::memory_order_relaxed);
        const i64 begin = first + k * block;
        judge(begin, std::min(begin + block, end), round.v.data(), round.slack.data() + (begin - first));
        round.ready[static_cast<std::size_t>(k)].store(1, std::memory_order_release);
        round.done.fetch_add(1, std::memory_order_release);
    }

    // Wait until the round is another one than that of a ticket.
    u64 next_round(u64 at) {
        const std::uint32_t seen = number.load(std::memory_order_acquire);
        for (int spin = 0; spin < 2000; ++spin) {
            const u64 now = ticket.load(std::memory_order_acquire);
            if (of(now) != of(at)) return now;
            breathe();
        }
        const u64 now = ticket.load(std::memory_order_acquire);
        if (of(now) != of(at)) return now;
        number.wait(seen, std::memory_order_acquire);
        return ticket.load(std::memory_order_acquire);
    }

    Round& following() { return both[(of(ticket.load(std::memory_order_relaxed)) + 1) & 1]; }

    // Let helpers judge positions begin .. end with the weights of now.
    void publish(const double* v, i64 begin, i64 end) {
        Round& round = following();
        const i64 blocks = (end - begin + block - 1) / block;
        round.norm2 = 0;
        for (std::size_t k = 0; k < round.v.size(); ++k) round.v[k] = v[k], round.norm2 += v[k] * v[k];
        if (round.room < blocks) {
            round.room = blocks;
            round.slack.resize(static_cast<std::size_t>(blocks * block));
            round.ready = std::make_unique<std::atomic<char>[]>(static_cast<std::size_t>(blocks));
        }
        for (i64 k = 0; k < blocks; ++k) round.ready[static_cast<std::size_t>(k)].store(0, std::memory_order_relaxed);
        round.begin.store(begin, std::memory_order_relaxed);
        round.end.store(end, std::memory_order_relaxed);
        round.blocks.store(blocks, std::memory_order_relaxed);
        round.done.store(0, std::memory_order_relaxed);
        ticket.store((of(ticket.load(std::memory_order_relaxed)) + 1) << 32, std::memory_order_release);
        number.fetch_add(1, std::memory_order_release);
        number.notify_all();
        ++rounds;
    }

    // Take part in the round that is judged until no block of it is left; how many were left to this thread.
    i64 take_part() {
        u64 at = ticket.load(std::memory_order_acquire);
        Round& round = both[of(at) & 1];
        i64 taken = 0;
        while (part(at) < round.blocks.load(std::memory_order_relaxed))
            if (ticket.compare_exchange_weak(at, at + 1, std::memory_order_acq_rel, std::memory_order_acquire)) {
                take(round, part(at));
                ++taken;
                at = ticket.load(std::memory_order_acquire);
            }
        return taken;
    }

    // Whether a block has been judged; its helper may have been put aside by the system, and is not waited for longer
    // than the block would take.
    static bool is_ready(const Round& round, i64 k, int& patience) {
        const std::atomic<char>& ready = round.ready[static_cast<std::size_t>(k)];
        while (!ready.load(std::memory_order_acquire)) {
            if (patience-- <= 0) return false;
            breathe();
        }
        return true;
    }

    // How far a row must have been from moving the old weights, so as not to move these.
    static float reach(const double* v, const Round& round) {
        double moved2 = 0;
        const std::size_t e = round.v.size();
        for (std::size_t k = 0; k < e; ++k) moved2 += (v[k] - round.v[k]) * (v[k] - round.v[k]);
        if (!(moved2 < 0x1p1000 && round.norm2 < 0x1p1000)) return std::numeric_limits<float>::infinity();
        const double g = 1.001 * 0x1p-53 * (static_cast<double>(e) + 10);
        const double bracket = (1 + g) * std::sqrt(moved2) + 2 * g * std::sqrt(round.norm2);
        return static_cast<float>(bracket * (1 + 0x1p-18) + 0x1p-100);
    }

    // Rounds from position t on, until the end or until most rows of a round stay open; where it stopped.
    i64 in_rounds(const double* v, i64 t, i64 end, i64 limit, i64& span, Moves& total, const Run& run,
                  const Skip& skip) {
        wanted.store(helpers, std::memory_order_relaxed);
        const i64 few = std::max<i64>(8, helpers + 1);  // of so many rows one may stay open
        bool pending = false;
        int lonely = 0;  // rounds in a row that helpers had little part in: the system has other work for their cores
        for (bool more = true; t < end && total.updates < limit && (more || pending);) {
            if (!pending && !following().is_free()) {
                const Moves moves = run(t, std::min(t + least_span(), end), limit - total.updates);
                count(total, moves);
                t += moves.visits;
                continue;
            }
            if (!pending) publish(v, t, std::min(t + span, end));
            const Round& round = both[of(ticket.load(std::memory_order_relaxed)) & 1];
            const i64 own = take_part();
            lonely = 4 * own > 3 * round.blocks.load(std::memory_order_relaxed) ? lonely + 1 : 0;
            const i64 stop = round.end.load(std::memory_order_relaxed), rows = stop - t;
            pending = more && stop < end && following().is_free();
            if (pending) publish(v, stop, std::min(stop + span, end));
            const i64 open = go_through(v, round, t, stop, limit, total, run, skip);
            wanted.store(std::min(helpers, open ? 1 + rows / open : helpers), std::memory_order_relaxed);
            const bool wide_open = 2 * open > rows && span == least_span();
            if (wide_open || lonely == 4) more = false;  // what is published already is gone through
            if (2 * few * open < rows) span = std::min(2 * span, std::max(most_span, least_span()));
            if (few * open > rows) span = std::max(span / 2, least_span());
        }
        return t;
    }

    // The rows of a round from position t to its end, where `t` is then; how many of them were looked at.
    i64 go_through(const double* v, const Round& round, i64& t, i64 stop, i64 limit, Moves& total, const Run& run,
                   const Skip& skip) {
        const i64 first = t;
        const float* slack = round.slack.data() - first;
        float need = reach(v, round);
        i64 open = 0;
        const auto look = [&](i64 to) {
            const Moves moves = run(t, to, 1);
            count(total, moves);
            open += moves.visits;
            t += moves.visits;
            if (moves.updates) need = reach(v, round);
        };
        int patience = 1000;
        for (i64 k = 0; t < stop; ++k) {
            const i64 last = std::min(first + (k + 1) * block, stop);
            const bool ready = is_ready(round, k, patience);
            while (t < last && total.updates < limit) {
                if (!ready) {
                    look(last);
                    continue;
                }
                const i64 next = first_open(slack, t, last, need);
                skip(t, next);
                passed_over += next - t;
                t = next;
                i64 behind = next;
                while (behind < last && !(slack[behind] > need)) ++behind;
                if (next < last) look(behind);
            }
            if (total.updates >= limit) break;
        }
        return open;
    }

    static i64 first_open(const float* slack, i64 begin, i64 end, float need) {
        i64 t = begin;
        for (; t + 64 <= end; t += 64) {
            int open = 0;
            for (i64 k = 0; k < 64; ++k) open += !(slack[t + k] > need);
            if (open) break;
        }
        while (t < end && slack[t] > need) ++t;
        return t;
    }
};

// (y s - c) / |z| for the rows at positions begin .. end; -1 where nothing can be said.
template <class T>
void judge_rows(const Dense<T>& X, const i8* y, const i64* order, double c, i64 begin, i64 end, const double* v,
                float* slack) {
    const i64 ahead = X.ahead();
    for (i64 t = begin; t < end; ++t) {
        const i64 i = order ? order[t] : t;
        if (order && t + ahead < end) X.prefetch(order[t + ahead]);
        const T* x = X.row(i);
        v8 s0{}, s1{}, q0{}, q1{};
        i64 k = 0;
        for (; k + 16 <= X.d; k += 16) {
            const v8 a = load(x + k), b = load(x + k + 8);
            s0 += a * load(v + k), s1 += b * load(v + k + 8);
            q0 += a * a, q1 += b * b;
        }
        if (k + 8 <= X.d) {
            const v8 a = load(x + k);
            s0 += a * load(v + k), q0 += a * a;
            k += 8;
        }
        if (k < X.d) {
            const v8 a = load_part(x + k, X.d - k);
            s1 += a * load_part(v + k, X.d - k), q1 += a * a;
        }
        const double z2 = sum(q0 + q1) + 1, m = y[i] * (sum(s0 + s1) + v[X.d]) - c;
        const double far = m / (std::sqrt(z2) * (1 + 0x1p-20));
        slack[t - begin] = y[i] == 0                            ? FLT_MAX
                           : z2 < 0x1p1000 && std::fabs(far) < FLT_MAX ? static_cast<float>(far)
                                                                : -1.0f;
    }
}

// The pass `run` over dense rows, which do not move the lifted weights v where y s > c.
template <class T>
Moves pass_ahead(Lookahead& ahead, const Dense<T>& X, const i8* y, const i64* order, const double* v, double c,
                 i64 begin, i64 end, i64 limit, const Lookahead::Run& run, const Lookahead::Skip& skip) {
    const auto judge = [&](i64 first, i64 last, const double* weights, float* slack) {
        judge_rows(X, y, order, c, first, last, weights, slack);
    };
    return ahead.pass(v, X.d, begin, end, limit, judge, run, skip);
}

}  // namespace separatrix
