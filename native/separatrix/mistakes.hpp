// How few rows can a hyperplane get wrong? A tree of cases, each with a proved bound.
//
// Some best w has z_i . w != 0 for every row that is not zero (moving w a little loses no row), so the
// tree may ask of one row after the other: is it right, z_i . w > 0, or wrong, z_i . w < 0? Both answers
// confine w to a cone. A witness is a circuit among rows z_i and reversed rows -z_j with j already wrong:
// sum a_i z_i = sum b_j z_j, a, b > 0, so that one of its rows i is wrong too. Witnesses whose rows that may
// be wrong are disjoint each cost a mistake: mistakes >= rows already wrong + witnesses packed. A witness
// without such rows shows that the case cannot occur.
//
// The case with the least bound is divided first. Witnesses are found in floating point (nnls.hpp), taken
// when circuit.hpp proves them, and else given to the caller, as are rows that rounding cannot decide: `prove`
// turns what it is given into a witness among it that is proved in integers, or refuses.
#pragma once
#include <chrono>
#include <functional>
#include <map>
#include <queue>
#include <utility>

#include "circuit.hpp"
#include "nnls.hpp"
#include "spread.hpp"

namespace separatrix {

struct Case {
    i32 parent, row;          // row -1 at the root
    bool wrong;               // whether the row is wrong or right here
    i32 mistakes;             // rows wrong on the way here
    i32 bound;                // proved here: mistakes + witnesses packed, or `impossible`
    i32 divided = -1;         // the child in which its row is wrong; the next one is the other
    std::vector<i32> packed;  // witnesses
    std::vector<i32> weights{};  // of the witnesses, where they share rows
    i32 over = 1;             // what no row bears more of
    i32 next = -1;            // the row to divide at
};

class MistakeTree {
   public:
    using Codes = std::vector<i32>;  // row i as i, reversed as ~i
    using Prove = std::function<bool(Codes&)>;
    using Late = std::function<bool()>;  // whether the caller wants an end; it may also throw
    static constexpr i32 impossible = 1 << 30;
    static constexpr int rounds = 3;  // of looking for witnesses that share rows
    static constexpr int first_rounds = 40;  // at the root, whose witnesses serve every case
    static constexpr i64 narrow = 6;  // columns up to which many small cases take less time than better bounds

    std::vector<Case> cases;
    std::vector<Codes> witnesses;
    std::vector<double> found;  // a w with fewer mistakes than `best`, if any
    i32 best;
    i64 nodes = 0, questions = 0, doubtful = 0;

    // z: rows times positive numbers, each with its largest entry near 1; exact only if `exact`.
    MistakeTree(const double* z, i64 n, i64 p, bool exact)
        : best(static_cast<i32>(n)), n(n), p(p), exact(exact), Z(z, z + n * p), A(Z), length(n), side(n, 0), used(n, 0),
          hull(p), shares(n) {
        for (i64 i = 0; i < n; ++i) {
            length[i] = std::sqrt(dot(&Z[i * p], &Z[i * p], p));
            if (length[i] > 0)
                for (i64 j = 0; j < p; ++j) A[i * p + j] /= length[i];
        }
    }

    // The root, with witnesses that the caller has proved.
    void start(const std::vector<Codes>& known, const Prove& by, const Late& end) {
        prove = &by, late = &end, ended = false;
        cases.push_back({-1, -1, false, 0, 0, -1, {}, {}, 1, -1});
        for (const Codes& c : known) cases[0].packed.push_back(enlist(c));
        bound(0);
        push(0);
    }

    i64 rows() const { return n; }
    i64 columns() const { return p; }

    // The w found, which may be empty; the search goes on from there.
    std::vector<double> take() { return std::exchange(found, {}); }

    i32 lower() const { return std::min({best, stuck, open.empty() ? best : std::get<0>(open.top())}); }

    // Divides cases until `more` were made, a better w was found, or the bounds are within `gap`.
    void run(i64 more, i32 gap, const Prove& by, const Late& when) {
        prove = &by, late = &when, ended = false;
        const i64 end = nodes + more;
        while (nodes < end && found.empty() && !open.empty() && lower() + gap < best && !stop()) {
            const Entry entry = open.top();
            const std::size_t before = cases.size();
            open.pop();
            try {
                divide(std::get<2>(entry));
            } catch (...) {  // the caller's proof was interrupted: the case is as it was
                cases.resize(before);
                cases[std::get<2>(entry)].divided = -1;
                open.push(entry);
                throw;
            }
        }
    }

    // A w with so few mistakes is proved; its margins guide the search.
    void offer(i32 mistakes, const double* w) {
        best = std::min(best, mistakes);
        margin.resize(n);
        for (i64 i = 0; i < n; ++i) margin[i] = dot(&A[i * p], w, p);
    }

   private:
    const i64 n, p;
    const bool exact;
    std::vector<double> Z, A, length, margin, W, v;
    std::vector<i8> side;  // 0 may be either, 1 right, 2 wrong
    std::vector<i8> used;  // in a witness packed
    Codes base;            // the rows decided on the way to the case
    NearestPoint hull;
    CircuitProof proof;
    SpreadWeights shares;
    const Prove* prove = nullptr;  // during start and run
    const Late* late = nullptr;
    std::chrono::steady_clock::time_point looked{};
    bool ended = false;
    std::map<Codes, i32> known;
    std::map<Codes, Codes> proved;
    i32 found_mistakes = 0, stuck = impossible;
    using Entry = std::tuple<i32, i32, i32>;  // bound, -depth, case
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> open;

    enum Answer { separable, blocked, unknown };

    // Does the caller want an end? Asked some times a second; then every bound stays what it is.
    bool stop() {
        if (ended || !*late) return ended;
        const auto now = std::chrono::steady_clock::now();
        if (now - looked < std::chrono::milliseconds(100)) return false;
        looked = now;
        return ended = (*late)();
    }

    static i32 row_of(i32 code) { return code < 0 ? ~code : code; }

    void push(i32 at) {
        i32 depth = 0;
        for (i32 c = at; cases[c].parent >= 0; c = cases[c].parent) ++depth;
        const i32 inherited = cases[at].parent < 0 ? 0 : reached(cases[at].parent);
        if (std::max(inherited, cases[at].bound) < best) open.push({std::max(inherited, cases[at].bound), -depth, at});
    }
    i32 reached(i32 at) const {
        i32 most = 0;
        for (; at >= 0; at = cases[at].parent) most = std::max(most, cases[at].bound);
        return most;
    }

    i32 enlist(const Codes& codes) {
        const auto [place, fresh] = known.try_emplace(codes, static_cast<i32>(witnesses.size()));
        if (fresh) witnesses.push_back(codes);
        return place->second;
    }

    void enter(i32 at) {
        std::fill(side.begin(), side.end(), 0);
        base.clear();
        for (; cases[at].parent >= 0; at = cases[at].parent) {
            side[cases[at].row] = cases[at].wrong ? 2 : 1;
            base.push_back(cases[at].wrong ? ~cases[at].row : cases[at].row);
        }
    }

    // Is some w right on the base and on these rows? Leaves w in v, or a proved witness.
    Answer ask(const Codes& rows, Codes& witness) {
        ++questions;
        const i64 m = static_cast<i64>(base.size() + rows.size());
        W.resize(m * p);
        const auto code = [&](i64 t) { return t < static_cast<i64>(base.size()) ? base[t] : rows[t - base.size()]; };
        for (i64 t = 0; t < m; ++t) {
            const i32 c = code(t), i = row_of(c);
            if (!(length[i] > 0)) {  // a zero row is a witness by itself
                witness = {c};
                return c >= 0 && (exact || (*prove)(witness)) ? blocked : unknown;
            }
            for (i64 j = 0; j < p; ++j) W[t * p + j] = c < 0 ? -A[i * p + j] : A[i * p + j];
        }
        hull.first = static_cast<i64>(base.size());
        double c = 1;
        std::vector<i64> from;
        for (int attempt = 0; attempt < 3; ++attempt) {
            const auto status = hull.solve(W.data(), m, c, from, 1e-13, 40 * p + 2000);
            if (status == NearestPoint::origin) {
                witness.clear();
                for (i64 t : hull.support) witness.push_back(code(t));
                if (certain(witness)) return blocked;
                break;
            }
            double least = HUGE_VAL;
            for (i64 t = 0; t < m; ++t) least = std::min(least, dot(&W[t * p], hull.v.data(), p));
            if (least > 0) return v = hull.v, separable;
            c = std::clamp(std::sqrt(dot(hull.v.data(), hull.v.data(), p)) / hull.total(), 1e-7, 1.0);
            from = hull.support;
        }
        witness = base;  // too close for rounding: the caller decides about all rows
        witness.insert(witness.end(), rows.begin(), rows.end());
        ++doubtful;
        return (*prove)(witness) ? std::sort(witness.begin(), witness.end()), blocked : unknown;
    }

    // Proves the support just found, or its heaviest rows, here or by the caller, who may replace it.
    bool certain(Codes& witness) {
        std::vector<std::pair<double, i32>> order;  // the heaviest first
        for (std::size_t k = 0; k < witness.size(); ++k) order.push_back({sortable(-hull.x[k]), witness[k]});
        std::sort(order.begin(), order.end());
        for (std::size_t k = 0; k < witness.size(); ++k) witness[k] = order[k].second, hull.x[k] = -order[k].first;
        if (exact && square(witness)) return std::sort(witness.begin(), witness.end()), true;
        const Codes asked = witness;
        if (const auto old = proved.find(asked); old != proved.end()) return witness = old->second, !witness.empty();
        ++doubtful;
        if (!(*prove)(witness)) witness.clear();
        std::sort(witness.begin(), witness.end());
        proved[asked] = witness;
        return !witness.empty();
    }

    // Leaves of these rows the first ones, as many as are a circuit and zero outside one column fewer: many when most
    // numbers are zero. The weights of the rows left out are rounding errors.
    bool square(Codes& witness) {
        std::vector<i64> columns, filled;  // filled: columns of each row and those before it
        std::vector<char> seen(p, 0);
        std::vector<const double*> rows;
        std::vector<int> sign;
        std::vector<double> weight;
        for (std::size_t k = 0; k < witness.size(); ++k) {
            const i32 i = row_of(witness[k]);
            rows.push_back(&Z[i * p]), sign.push_back(witness[k] < 0 ? -1 : 1);
            weight.push_back(hull.x[k] / length[i]);
            for (i64 j = 0; j < p; ++j)
                if (rows[k][j] != 0 && !seen[j]) seen[j] = 1, columns.push_back(j);
            filled.push_back(std::ssize(columns));
        }
        for (std::size_t size = witness.size(); size > 1; --size) {
            if (filled[size - 1] != static_cast<i64>(size) - 1) continue;
            columns.resize(size - 1), rows.resize(size), sign.resize(size), weight.resize(size);
            if (proof.holds(rows, columns, sign, weight)) return witness.resize(size), true;
        }
        return false;
    }

    // The rows of a witness that may be wrong here; false when it says nothing here.
    bool part(const Codes& witness, Codes& out) const {
        out.clear();
        for (i32 c : witness) {
            if (c < 0 && side[~c] != 2) return false;
            if (c >= 0 && side[c] == 2) return false;
            if (c >= 0 && side[c] == 0) out.push_back(c);
        }
        return true;
    }

    // Packs a witness if its part is free; `impossible` when it has none.
    bool pack(i32 id, Case& here) {
        Codes rows;
        if (!part(witnesses[id], rows)) return false;
        if (rows.empty()) return here.packed = {id}, here.weights.clear(), here.over = 1, here.bound = impossible, true;
        for (i32 i : rows)
            if (used[i]) return false;
        for (i32 i : rows) used[i] = 1;
        here.packed.push_back(id), ++here.bound;
        return true;
    }

    // More witnesses among the rows that no witness uses yet, until w is right on them (then in v).
    Answer extend(Case& here) {
        for (;;) {
            Codes free, witness;
            for (i32 i = 0; i < n; ++i)
                if (side[i] == 0 && !used[i]) free.push_back(i);
            if ((free.empty() && base.empty()) || stop()) return unknown;
            const Answer answer = ask(free, witness);
            if (answer != blocked) return answer;
            if (!pack(enlist(witness), here)) return unknown;
            if (here.bound >= best) return blocked;
        }
    }

    void bound(i32 at) {
        ++nodes;
        enter(at);
        Case& here = cases[at];
        const std::vector<i32> before = here.packed;
        if (disjoint(here) && here.bound < best && p > narrow) spread(here, before);
    }

    // Witnesses that share no row that may be wrong; false when nothing more can be said here.
    bool disjoint(Case& here) {
        std::vector<i32> given;
        std::swap(given, here.packed);
        const auto refill = [&](const std::vector<i32>& ids) {
            std::fill(used.begin(), used.end(), 0);
            here.packed.clear(), here.bound = here.mistakes;
            for (i32 id : ids)
                if (here.bound < best) pack(id, here);
        };
        refill(given);
        if (here.bound >= best || extend(here) != separable) return false;
        for (int round = 0; round < 3; ++round) {
            look();
            std::vector<i32> alone, others;
            bool fresh = false;
            for (i32 id : here.packed) {
                Codes rows;
                part(witnesses[id], rows);
                (rows.size() == 1 ? alone : others).push_back(id);
                if (rows.size() == 1) used[rows[0]] = 2;
            }
            for (i32 i = 0; i < n && !stop(); ++i)  // is a row that w gets wrong wrong for every w?
                if (used[i] == 1 && dot(&A[i * p], v.data(), p) <= 0) {
                    Codes witness;
                    const std::vector<double> kept = v;
                    if (ask({i}, witness) == blocked) alone.push_back(enlist(witness)), fresh = true;
                    v = kept;
                }
            if (!fresh) return true;
            const Case before = here;
            alone.insert(alone.end(), others.begin(), others.end());
            refill(alone);
            if (here.bound >= best) return false;
            const Answer answer = extend(here);
            if (here.bound < before.bound) here.packed = before.packed, here.bound = before.bound;
            if (answer != separable || here.bound >= best) return false;
        }
        return true;
    }

    // Witnesses that share rows, with weights that no row bears more than 1 of (spread.hpp); more of them are looked for
    // among the rows of the least prices, where their weight would be free.
    void spread(Case& here, const std::vector<i32>& before) {
        std::vector<i32> ids = before;  // those of the case that was divided come first
        std::vector<char> listed(witnesses.size(), 0);
        for (i32 id : before) listed[id] = 1;
        for (i32 id = 0; id < static_cast<i32>(witnesses.size()); ++id)
            if (!listed[id]) ids.push_back(id);
        Codes rows, witness;
        std::size_t count = 0, first = 0;
        shares.clear();
        for (std::size_t k = 0; k < ids.size(); ++k)
            if (part(witnesses[ids[k]], rows)) {
                if (rows.empty()) return void(pack(ids[k], here));
                shares.add(rows), ids[count++] = ids[k], first += k < before.size();
            }
        ids.resize(count);
        shares.prefer(static_cast<i32>(first));
        for (int round = 0;; ++round) {
            shares.solve(1000, [&] { return stop(); });
            claim(here, ids);
            if (here.bound >= best || stop() || round == (here.parent < 0 ? first_rounds : rounds)) break;
            Codes order;
            for (i32 i = 0; i < n; ++i)
                if (side[i] == 0) order.push_back(i);
            std::stable_sort(order.begin(), order.end(), [&](i32 a, i32 b) { return shares.price[a] < shares.price[b]; });
            std::size_t low = 0, high = order.size();  // the fewest rows of least price that are blocked
            while (low < order.size() && shares.price[order[low]] <= 1e-9) ++low;
            const std::size_t free = low;
            if (ask({order.begin(), order.begin() + static_cast<std::ptrdiff_t>(low)}, witness) == blocked) high = low;
            else look();
            while (low + p < high) {
                const std::size_t middle = (low + high) / 2;
                if (ask({order.begin(), order.begin() + static_cast<std::ptrdiff_t>(middle)}, witness) == blocked)
                    high = middle;
                else
                    low = middle + 1;
            }
            if (high == order.size() && high > free) break;
            order.resize(std::min(order.size(), high + (high > free ? 3 * p : 0)));
            bool fresh = false;
            while (!stop() && ask(order, witness) == blocked) {
                const i32 id = enlist(witness);
                if (!part(witness, rows)) break;
                if (rows.empty()) return void(pack(id, here));
                double cost = 0;
                for (i32 i : rows) cost += shares.price[i];
                if (cost < 1 - 1e-6) shares.add(rows), ids.push_back(id), fresh = true;
                std::erase_if(order, [&](i32 i) { return std::binary_search(rows.begin(), rows.end(), i); });
            }
            if (!fresh) break;
        }
        // The row to divide at: of those with a price of at least 0.3 the one that the best w gets most wrong.
        const auto rank = [&](i32 i) {
            return std::pair(-std::min(shares.price[i], 0.3), margin.empty() ? 0.0 : margin[i]);
        };
        for (i32 i = 0; i < n; ++i)
            if (side[i] == 0 && shares.price[i] > 1e-6 && shares.price[i] < 1 - 1e-6 &&
                (here.next < 0 || rank(i) < rank(here.next)))
                here.next = i;
    }

    // The weights in integers, if they prove more than is known.
    void claim(Case& here, const std::vector<i32>& ids) {
        std::vector<i64> load(n, 0);
        std::vector<i32> packed, weights;
        i64 sum = 0, over = 1;
        Codes rows;
        for (std::size_t b = 0; b < shares.chosen.size(); ++b) {
            const i32 whole = static_cast<i32>(std::clamp(shares.weight[b], 0.0, 2.0) * 65536);
            if (whole <= 0) continue;
            packed.push_back(ids[shares.chosen[b]]), weights.push_back(whole), sum += whole;
            part(witnesses[packed.back()], rows);
            for (i32 i : rows) over = std::max(over, load[i] += whole);
        }
        const i32 bound = here.mistakes + static_cast<i32>((sum + over - 1) / over);
        if (bound <= here.bound) return;
        here.bound = bound, here.packed = packed, here.weights = weights, here.over = static_cast<i32>(over);
    }

    // How many rows does the present w get wrong?
    void look() {
        i32 wrong = 0;
        for (i64 i = 0; i < n; ++i) wrong += !(dot(&A[i * p], v.data(), p) > 0);
        if (wrong < best && (found.empty() || wrong < found_mistakes)) found = v, found_mistakes = wrong;
    }

    void divide(i32 at) {
        enter(at);
        std::fill(used.begin(), used.end(), 0);
        const i32 row = cases[at].next >= 0 ? cases[at].next : candidate(at);
        if (row < 0) {  // every row is decided, and no proof was found that this cannot be
            stuck = std::min(stuck, reached(at));
            return;
        }
        const i32 first = static_cast<i32>(cases.size());
        cases[at].divided = first;
        for (int right = 0; right < 2; ++right) {
            cases.push_back({at, row, !right, cases[at].mistakes + !right, 0, -1, cases[at].packed, {}, 1, -1});
            bound(first + right);
        }
        push(first), push(first + 1);
    }

    // Of the witnesses with the fewest rows that may be wrong, the row that the best w gets most wrong: it is
    // likely to be wrong, and hard to get right.
    i32 candidate(i32 at) const {
        i32 chosen = -1;
        std::size_t least = static_cast<std::size_t>(-1);
        double worst = 0;
        Codes rows;
        for (i32 id : cases[at].packed) {
            if (!part(witnesses[id], rows) || rows.size() < 2 || rows.size() > least) continue;
            for (i32 i : rows) {
                const double m = margin.empty() ? 0.0 : margin[i];
                if (rows.size() < least || m < worst) chosen = i, worst = m, least = rows.size();
            }
        }
        for (i32 i = 0; i < n && chosen < 0; ++i)
            if (side[i] == 0 && length[i] > 0) chosen = i;
        return chosen;
    }
};

}  // namespace separatrix
