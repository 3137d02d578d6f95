// Weights on sets of rows, as large in sum as possible, such that no row bears more than 1:
//
//     max  sum t,   sum of t_W over the sets W with row i  <=  1  for every row i,   t >= 0,
//
// by the primal simplex method. The basis has the sets of positive weight and as many rows that bear all they can; the
// inverse of its matrix B (1 where a row is in a set) is kept. The prices x of the rows solve the dual problem (min sum
// x, x(W) >= 1): a set with x(W) < 1 that is not among those given would increase the sum. Rows may bear a little
// more than 1, each by another amount, so that no step has length zero: what is claimed is added up in integers.
#pragma once
#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "factor.hpp"

namespace separatrix {

class SpreadWeights {
   public:
    std::vector<double> price;  // of the rows
    std::vector<i32> chosen;    // sets of the basis, and their weights
    std::vector<double> weight;

    explicit SpreadWeights(i64 n) : price(n, 0.0), place(n, -1), room(n, 0.0), rate(n, 0.0) {}

    void clear() {
        for (i32 i : full) place[i] = -1;
        std::fill(price.begin(), price.end(), 0.0);
        chosen.clear(), weight.clear(), full.clear(), rows.clear(), in.clear(), inverse.clear(), few.clear();
        from.assign(1, 0);
    }

    void add(const std::vector<i32>& set) {
        rows.insert(rows.end(), set.begin(), set.end());
        from.push_back(static_cast<i64>(rows.size()));
        in.push_back(0);
    }

    // The first sets are tried before all others.
    void prefer(i32 first) {
        for (i32 set = 0; set < first; ++set) few.push_back(set);
    }

    // Goes on from the basis of the last call, until `stop` says so.
    template <class Stop>
    void solve(i64 most_steps, Stop stop) {
        for (i64 step = 0;; ++step) {
            if (step % 100 == 99 && !invert()) return;
            values();
            if (step == most_steps || stop()) return;
            i64 row = -1;  // of the basis, of which the price is below zero
            for (i64 a = 0; a < size(); ++a)
                if (price[full[a]] < (row < 0 ? -tiny : price[full[row]])) row = a;
            auto [gain, set] = entering();
            if (row >= 0 && set >= 0) gain > -0.3 * price[full[row]] ? row = -1 : set = -1;
            if ((row < 0 && set < 0) || !pivot(set, row)) return;
        }
    }

   private:
    using Vector = std::vector<double>;
    static constexpr double tiny = 1e-9;
    std::vector<i32> rows, full;   // rows of all sets; rows of the basis
    std::vector<i64> from;         // where each set begins
    std::vector<char> in;          // whether a set is in the basis
    std::vector<i32> place, few;   // of a row in `full`; sets of the last pricing of all
    Vector room, rate;             // what a row can still bear, and how fast that shrinks
    Vector inverse, move, across;  // inverse of B, sets by rows

    i64 size() const { return static_cast<i64>(full.size()); }

    static double capacity(i64 i) {
        const double part = 0.6180339887498949 * (static_cast<double>(i) + 1);
        return 1.0 + 1e-5 * (part - std::floor(part));
    }

    template <class Visit>
    void each(i32 set, Visit visit) const {
        for (i64 r = from[set]; r < from[set + 1]; ++r) visit(rows[r]);
    }

    void values() {
        const i64 k = size();
        Vector sums(k, 0.0), most(k);
        for (i64 a = 0; a < k; ++a) most[a] = capacity(full[a]);
        weight.resize(k);
        for (std::size_t i = 0; i < room.size(); ++i) room[i] = capacity(static_cast<i64>(i));
        for (i64 b = 0; b < k; ++b) {
            weight[b] = dot(&inverse[b * k], most.data(), k);
            axpy(1.0, &inverse[b * k], sums.data(), k);
            each(chosen[b], [&](i32 i) { room[i] -= weight[b]; });
        }
        for (i64 a = 0; a < k; ++a) price[full[a]] = sums[a];
    }

    // The set with the greatest gain per length, and that gain: among a few, and among all when those are done.
    std::pair<double, i32> entering() {
        const auto gain = [&](i32 set) {
            double s = in[set] ? 0.0 : 1.0;
            each(set, [&](i32 i) { s -= price[i]; });
            return s / std::sqrt(1.0 + static_cast<double>(from[set + 1] - from[set]));
        };
        for (int turn = 0; turn < 2; ++turn) {
            std::pair<double, i32> best{1e-7, -1};
            for (i32 set : few)
                if (const double g = gain(set); g > best.first) best = {g, set};
            if (best.second >= 0) return best;
            std::vector<std::pair<double, i32>> all;
            for (i32 set = 0; set < static_cast<i32>(in.size()); ++set)
                if (const double g = gain(set); g > best.first) all.push_back({-g, set});
            const auto some = all.begin() + std::min<std::ptrdiff_t>(std::ssize(all), 30);
            std::partial_sort(all.begin(), some, all.end());
            few.clear();
            for (auto one = all.begin(); one != some; ++one) few.push_back(one->second);
        }
        return {0.0, -1};
    }

    // The set, or the room of a row of the basis, enters; what first reaches zero leaves.
    bool pivot(i32 set, i64 row) {
        const i64 k = size();
        move.assign(k, 0.0);
        for (i64 b = 0; b < k; ++b) {
            if (set < 0) move[b] = inverse[b * k + row];
            else each(set, [&](i32 i) { move[b] += place[i] < 0 ? 0.0 : inverse[b * k + place[i]]; });
        }
        std::fill(rate.begin(), rate.end(), 0.0);
        if (set >= 0) each(set, [&](i32 i) { rate[i] = 1; });
        double least = HUGE_VAL;
        i64 leaves = -1, fills = -1;
        for (i64 b = 0; b < k; ++b) {
            each(chosen[b], [&](i32 i) { rate[i] -= move[b]; });
            if (const double s = std::max(weight[b], 0.0) / move[b]; move[b] > tiny && s < least) least = s, leaves = b;
        }
        for (i64 i = 0; i < std::ssize(room); ++i)
            if (const double s = std::max(room[i], 0.0) / rate[i]; place[i] < 0 && rate[i] > tiny && s < least)
                least = s, fills = i;
        if (leaves < 0 && fills < 0) return false;
        if (fills < 0) leave(set, row, leaves);
        else fill(set, row, static_cast<i32>(fills));
        return true;
    }

    // A set leaves the basis: another set takes its place, or a row leaves with it.
    void leave(i32 set, i64 row, i64 leaves) {
        const i64 k = size();
        in[chosen[leaves]] = 0;
        Vector line(&inverse[leaves * k], &inverse[leaves * k] + k);
        const double by = set >= 0 ? move[leaves] : line[row];
        for (double& t : line) t /= by;
        for (i64 b = 0; b < k; ++b)
            if (b != leaves) axpy(-(set >= 0 ? move[b] : inverse[b * k + row]), line.data(), &inverse[b * k], k);
        if (set >= 0) {
            std::copy(line.begin(), line.end(), &inverse[leaves * k]);
            chosen[leaves] = set, in[set] = 1;
            return;
        }
        Vector less;
        for (i64 b = 0; b < k; ++b)
            for (i64 a = 0; a < k; ++a)
                if (b != leaves && a != row) less.push_back(inverse[b * k + a]);
        inverse = std::move(less);
        place[full[row]] = -1, price[full[row]] = 0;
        full.erase(full.begin() + row), chosen.erase(chosen.begin() + leaves);
        for (i64 a = row; a < size(); ++a) place[full[a]] = static_cast<i32>(a);
    }

    // A row enters the basis: in the place of another row, or together with a set.
    void fill(i32 set, i64 row, i32 fresh) {
        const i64 k = size();
        across.assign(k, 0.0);  // the new row times the inverse
        for (i64 b = 0; b < k; ++b)
            each(chosen[b], [&](i32 i) { if (i == fresh) axpy(1.0, &inverse[b * k], across.data(), k); });
        if (set < 0) {
            const double by = across[row];
            across[row] -= 1;
            for (i64 b = 0; b < k; ++b) axpy(-move[b] / by, across.data(), &inverse[b * k], k);
            place[full[row]] = -1, price[full[row]] = 0;
            full[row] = fresh, place[fresh] = static_cast<i32>(row);
            return;
        }
        Vector more((k + 1) * (k + 1));
        for (i64 b = 0; b < k; ++b) {
            for (i64 a = 0; a < k; ++a) more[b * (k + 1) + a] = inverse[b * k + a] + move[b] * across[a] / rate[fresh];
            more[b * (k + 1) + k] = -move[b] / rate[fresh];
            more[k * (k + 1) + b] = -across[b] / rate[fresh];
        }
        more[k * (k + 1) + k] = 1 / rate[fresh];
        inverse = std::move(more);
        place[fresh] = static_cast<i32>(k), in[set] = 1;
        full.push_back(fresh), chosen.push_back(set);
    }

    // The inverse afresh, by Gauss and Jordan, against the errors of many steps.
    bool invert() {
        const i64 k = size();
        Vector B(k * k, 0.0);
        inverse.assign(k * k, 0.0);
        for (i64 b = 0; b < k; ++b) {
            each(chosen[b], [&](i32 i) { if (place[i] >= 0) B[place[i] * k + b] = 1; });
            inverse[b * k + b] = 1;
        }
        for (i64 c = 0; c < k; ++c) {
            i64 top = c;
            for (i64 a = c + 1; a < k; ++a)
                if (std::abs(B[a * k + c]) > std::abs(B[top * k + c])) top = a;
            const double by = B[top * k + c];
            if (!(std::abs(by) > tiny)) return false;
            for (Vector* m : {&B, &inverse}) {
                if (top != c) std::swap_ranges(&(*m)[top * k], &(*m)[top * k] + k, &(*m)[c * k]);
                for (i64 a = 0; a < k; ++a) (*m)[c * k + a] /= by;
            }
            for (i64 a = 0; a < k; ++a)
                if (const double f = B[a * k + c]; a != c && f != 0)
                    for (Vector* m : {&B, &inverse}) axpy(-f, &(*m)[c * k], &(*m)[a * k], k);
        }
        return true;
    }
};

}  // namespace separatrix
