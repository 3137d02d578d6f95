// Scores s_i = sum_l a_l (k(x_r(l), x_i) + one) of all rows of a table, brought up to date late and block by block.
//
// Entries (r, a) come one at a time; a block of rows stays in the cache while all entries that it lacks pass by. For
// dense rows the scores are kept in single precision with a bound on their error (screen.hpp); a row whose sign the
// bound leaves open gets its score in double, entry after entry in turn, as all rows do without the screen. What is asked (who is wrong, and scores by `exact`) has therefore one answer, to the bit.
#pragma once
#include <memory>

#include "screen.hpp"

namespace separatrix {

class LateScores {
   public:
    const i64 n;
    i64 block;  // rows that are brought up to date together

    virtual ~LateScores() = default;
    virtual std::unique_ptr<LateScores> another() const = 0;

    void add(i64 i, double a) {
        row.push_back(i);
        weight.push_back(a);
        if (screen && !(screen->bounded(i, a) && entries() <= Screen::most_entries)) give_up();
    }

    bool screened() const { return screen != nullptr; }

    // Bring the block that holds row i up to date.
    void catch_up(i64 i) {
        const i64 b = i / block, begin = b * block, end = begin + block < n ? begin + block : n, m = entries();
        constexpr i64 share = 8, free = 1 << 18;  // pairs in double that are tolerated
        if (screen && in_double > screened_pairs / share + free) give_up();
        if (!screen && restart[at(b)]) {
            for (i64 r = begin; r < end; ++r) scores[at(r)] = 0;
            applied[at(b)] = 0, restart[at(b)] = 0;
        }
        const i64 have = applied[at(b)];
        if (have == m) return;
        if (screen) {
            if (turned_block != b) screen->turn(begin, end, turned), turned_block = b;
            screen->add(turned, begin, end, row.data() + have, weight.data() + have, m - have, one, about.data(),
                        bound.data());
            screened_pairs += (end - begin) * (m - have);
        } else {
            update(have, m, begin, end);
        }
        applied[at(b)] = m;
    }

    // The first row from `begin` on that is wrong, `end` if none is; all of one block, which is brought up to date.
    i64 next_mistake(const i8* y, i64 begin, i64 end, bool zero_is_mistake) {
        catch_up(end - 1);
        for (i64 i = begin; i < end; ++i)
            if (wrong(i, y[i], zero_is_mistake)) return i;
        return end;
    }

    i64 mistakes(const i8* y, i64 begin, i64 end, bool zero_is_mistake) {
        catch_up(end - 1);
        i64 count = 0;
        for (i64 i = begin; i < end; ++i) count += wrong(i, y[i], zero_is_mistake);
        return count;
    }

    // The score of row i in double, its block being up to date.
    double exact(i64 i) {
        if (screen && known[at(i)] < entries()) {
            in_double += entries() - known[at(i)];
            settle(i, known[at(i)], entries());
            known[at(i)] = entries();
            about[at(i)] = scores[at(i)];
            bound[at(i)] = 0x1p-30 * std::fabs(scores[at(i)]);
        }
        return scores[at(i)];
    }

    // All scores as they are known, and how far they may be from those in double.
    void bounds(double* s, double* e) {
        for (bool before = !screened(); before != screened();) {  // once more where the screen is given up on the way
            before = screened();
            for (i64 i = 0; i < n; i += block) catch_up(i);
        }
        for (i64 i = 0; i < n; ++i) s[i] = screen ? about[at(i)] : scores[at(i)], e[i] = screen ? bound[at(i)] : 0;
    }

    // Whether the scores in double of some rows of a block are numbers, with all entries. Those that are screened are:
    // 2^21 weights and kernels of at most 2^60.
    bool finite(i64 begin, i64 end) {
        catch_up(end - 1);
        for (i64 i = begin; i < end && !screen; ++i)
            if (!std::isfinite(scores[at(i)])) return false;
        return true;
    }

   protected:
    std::shared_ptr<const Screen> screen;
    const double one;
    std::vector<i64> row;
    std::vector<double> weight, scores;

    LateScores(i64 n, i64 block, double one, std::shared_ptr<const Screen> screen)
        : n(n), block(block), screen(std::move(screen)), one(one), scores(at(n)), applied(at((n + block - 1) / block)),
          restart(applied.size()) {
        if (this->screen) about.resize(at(n)), bound.resize(at(n)), known.resize(at(n));
    }

    i64 entries() const { return static_cast<i64>(row.size()); }
    static std::size_t at(i64 i) { return static_cast<std::size_t>(i); }

    virtual void update(i64 from, i64 to, i64 begin, i64 end) = 0;  // entries from .. to for rows begin .. end
    virtual void settle(i64 i, i64 from, i64 to) = 0;               // the same for one row, one entry after the other

   private:
    std::vector<i64> applied;   // entries that each block has
    std::vector<char> restart;  // blocks that begin anew in double
    std::vector<double> about, bound;
    std::vector<i64> known;  // entries that are in the score of each row in double, while it is screened
    TurnedRows turned;
    i64 turned_block = -1, in_double = 0, screened_pairs = 0;

    // From here on in double: nearly all rows lack the same entries there, and they begin anew together.
    void give_up() {
        screen.reset();
        about = {}, bound = {}, known = {}, turned = {};
        for (char& r : restart) r = 1;
    }

    bool wrong(i64 i, i8 y, bool zero_is_mistake) {
        if (y == 0) return false;
        if (screen && std::fabs(about[at(i)]) > bound[at(i)]) return y * about[at(i)] < 0;
        const double s = exact(i);
        return first_mistake(&s, &y, nullptr, 0, 1, zero_is_mistake) == 0;
    }
};

template <class Rows>
class LateScoresOf final : public LateScores {
   public:
    LateScoresOf(const Rows& X, const double* norm2, const Kernel& k, double one, bool screened)
        : LateScoresOf(X, norm2, k, one, screened ? screen_of(X, norm2, k) : nullptr) {}

    std::unique_ptr<LateScores> another() const override {
        return std::unique_ptr<LateScores>(new LateScoresOf(X, norm2, k, one, first_screen));
    }

   private:
    const Rows X;
    const double* norm2;
    const Kernel k;
    const std::shared_ptr<const Screen> first_screen;

    LateScoresOf(const Rows& X, const double* norm2, const Kernel& k, double one, std::shared_ptr<const Screen> screen)
        : LateScores(X.n, screen ? screen->block() : block_in_double(X.d), one, screen), X(X), norm2(norm2), k(k),
          first_screen(screen) {}

    static i64 block_in_double(i64 d) {
        const i64 fit = (1 << 15) / (d < 1 ? 1 : d);
        return fit < 64 ? 64 : fit;
    }

    static std::shared_ptr<const Screen> screen_of(const Rows& X, const double* norm2, const Kernel& k) {
        if constexpr (requires { X.x; })
            if (X.n > 0 && Screen::serves(k)) return std::make_shared<const Screen>(X, norm2, k);
        return nullptr;
    }

    void update(i64 from, i64 to, i64 begin, i64 end) override {
        kernel_update(X, norm2, k, row.data() + from, weight.data() + from, to - from, one, begin, end, scores.data());
    }

    void settle(i64 i, i64 from, i64 to) override {
#if defined(__AVX512F__)
        constexpr bool packed = false;  // the last, partial vector of a row costs next to nothing
#else
        constexpr bool packed = true;
#endif
        constexpr i64 some = 256, worth_packing = 64;
        double s = scores[at(i)];
        const auto take = [&](i64, i64 l, i64 m, const double* column) {
            for (i64 r = 0; r < m; ++r) s += weight[at(from + l + r)] * (column[r] + one);
        };
        std::vector<double> z(at(X.d)), lengths(at(to - from));
        spread(X, i, z.data());
        for (i64 l = from; l < to; ++l) lengths[at(l - from)] = norm2[row[at(l)]];
        if constexpr (packed && requires { X.x; })
            if (to - from >= worth_packing) {  // tiles the other way round: entries are the rows, x_i passes by
                kernel_tiles(
                    X.d, to - from, [&](i64 l, double* entry) { spread(X, row[at(from + l)], entry); }, lengths.data(),
                    1, [&](i64, double* entry) { spread(X, i, entry); }, [&](i64) { return norm2[i]; }, k, take);
                scores[at(i)] = s;
                return;
            }
        double column[some];
        for (i64 l = 0; l < to - from; l += some) {
            const i64 m = to - from - l < some ? to - from - l : some;
            for (i64 r = 0; r < m; ++r) {
                const i64 t = from + l + r, ahead = t + 8 < to ? t + 8 : to - 1;
                column[r] = X.dot(row[at(t)], z.data(), row[at(ahead)]);
            }
            kernels_of(k, lengths.data() + l, norm2[i], m, column);
            take(0, l, m, column);
        }
        scores[at(i)] = s;
    }
};

}  // namespace separatrix
