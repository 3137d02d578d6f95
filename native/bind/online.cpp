#include "separatrix/short_online.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>

#include <optional>
#include <tuple>
#include <utility>

#include "dict_stream.hpp"
#include "look_ahead.hpp"
#include "rows.hpp"
#include "single_row.hpp"

namespace separatrix {

using Maybe = std::optional<Vector<double>>;
using MaybeOrder = std::optional<Vector<i64>>;
using MaybeSeen = std::optional<Out<i8>>;
using Counts = std::tuple<i64, i64, i64>;

// The arrays that every rule has; the account is kept for each vector.
struct Shared {
    Matrix lifted;
    Out<i64> updates, visits;
    MaybeSeen seen;
    bool bias;
};

template <class Rule>
struct Held {
    Rule rule;
    i64* updates;
    i64* visits;
    i8* seen;  // null: one against the rest
    nb::object owners;

    // One row: against the rest, or by Kesler's rule where there is `seen`. A row that gives no finite
    // score holds something that is not a number, or the weights have overflowed: nothing is learned from it.
    // Where the caller has the scores of the weights that learn, they are not summed again.
    template <class Rows>
    void learn(const Rows& row, i64 code, double weight, const double* dots = nullptr) {
        if (rule.count == 0 || code >= rule.count) throw nb::value_error("code names a vector that does not exist");
        if (!(weight > 0) || !std::isfinite(weight)) throw nb::value_error("the weight must be positive and finite");
        const double first = dots ? dots[0] : rule.dot(row, 0, 0);
        if (!std::isfinite(first)) throw nb::value_error("the score is not finite");
        if (seen) {
            const i32 own = static_cast<i32>(code);
            if (own < 0) throw nb::value_error("code names a vector that does not exist");
            updates[0] += kesler_pass(row, rule, seen, &own, &weight, nullptr, 0, 1, 1).updates;
            ++visits[0];
            return;
        }
        for (i64 k = 0; k < rule.count; ++k) {
            const double s = k == 0 ? first : dots ? dots[k] : rule.dot(row, 0, k);
            updates[k] += binary_look(row, rule, k, 0, k == code ? 1 : -1, weight, s);
            ++visits[k];
        }
    }

    template <class Rows>
    void scores(const Rows& row, Out<double>& out) const {
        need_length(out, rule.count, "out must hold a score for every vector");
        for (i64 k = 0; k < rule.count; ++k) out.data()[k] = rule.score(row, 0, k);
    }
};

static Vectors vectors(const Shared& s) {
    const i64 count = static_cast<i64>(s.lifted.shape(0)), d = static_cast<i64>(s.lifted.shape(1)) - 1;
    if (d < 1) throw nb::value_error("lifted must hold at least one weight and the bias");
    need_length(s.updates, count, "updates must hold a number for every vector");
    need_length(s.visits, count, "visits must hold a number for every vector");
    if (s.seen) need_length(*s.seen, count, "seen must hold a mark for every vector");
    return {s.lifted.data(), count, d, s.bias};
}

template <class Array>
static void need_rows_of(const Array& a, const Vectors& v, i64 width, const char* what) {
    i64 size = 1;
    for (std::size_t k = 0; k < a.ndim(); ++k) size *= static_cast<i64>(a.shape(k));
    if (size != v.count * width) throw nb::value_error(what);
}

template <class Rule, class... More>
static void hold(Held<Rule>* self, const Shared& s, Rule rule, const More&... more) {
    new (self) Held<Rule>{std::move(rule), s.updates.data(), s.visits.data(), s.seen ? s.seen->data() : nullptr,
                          nb::make_tuple(nb::cast(s.lifted), nb::cast(s.updates), nb::cast(s.visits),
                                         nb::cast(s.seen), nb::cast(more)...)};
}

static thread_local Features features;  // of one call; a stream, which runs other code between rows, has its own

template <class Rule>
static nb::class_<Held<Rule>> bind_rule(nb::module_& m, const char* name) {
    using Self = Held<Rule>;
    return nb::class_<Self>(m, name)
        .def(
            "binary",
            [](Self& self, i64 k, const Rows& X, Vector<i8> y, Maybe step, MaybeOrder order, i64 begin, i64 end,
               i64 limit, std::optional<Out<i8>> habit, Lookahead* ahead) -> Counts {
                if (k < 0 || k >= self.rule.count) throw nb::value_error("k names a vector that does not exist");
                if (X.d != self.rule.d) throw nb::value_error("X must have the features of the vectors");
                need_length(y, X.n, "y must hold a label for every row");
                if (step) need_length(*step, X.n, "step must hold a number for every row");
                need_fresh(ahead);
                if (habit) need_length(*habit, X.n, "habit must hold a number for every row");
                need_positions(order, X.n, begin, end);
                nb::gil_scoped_release free;
                const i64* rows_at = order ? order->data() : nullptr;
                const double c = self.rule.quiet();
                const Moves moves = std::visit(
                    [&](const auto& rows) {
                        const auto run = [&](i64 from, i64 to, i64 most) {
                            return binary_pass(rows, self.rule, k, y.data(), step ? step->data() : nullptr, rows_at,
                                               from, to, most, habit ? habit->data() : nullptr);
                        };
                        const auto skip = [&](i64 from, i64 to) {
                            for (i64 t = from; t < to; ++t)
                                if (y.data()[rows_at ? rows_at[t] : t] != 0) self.rule.tick(k);
                        };
                        if constexpr (requires { rows.x; })
                            if (ahead && !std::isnan(c))
                                return pass_ahead(*ahead, rows, y.data(), rows_at, self.rule.lifted(k), c, begin, end,
                                                  limit, run, skip);
                        return run(begin, end, limit);
                    },
                    X.view);
                self.updates[k] += moves.updates;
                self.visits[k] += moves.visits;
                return {moves.updates, moves.visits, moves.last};
            },
            "k"_a, "X"_a, "y"_a.noconvert(), "step"_a.noconvert().none(), "order"_a.noconvert().none(), "begin"_a,
            "end"_a, "limit"_a, "habit"_a.noconvert().none() = nb::none(), "ahead"_a.none() = nb::none())
        .def(
            "kesler",
            [](Self& self, const Rows& X, Vector<i32> y, Maybe step, MaybeOrder order, i64 begin, i64 end,
               i64 limit) -> Counts {
                if (!self.seen) throw nb::value_error("Kesler's rule needs the marks of the vectors seen");
                if (X.d != self.rule.d) throw nb::value_error("X must have the features of the vectors");
                need_length(y, X.n, "y must hold a number for every row");
                for (i64 i = 0; i < X.n; ++i)
                    if (y.data()[i] >= self.rule.count) throw nb::value_error("y names a vector that does not exist");
                if (step) need_length(*step, X.n, "step must hold a number for every row");
                need_positions(order, X.n, begin, end);
                nb::gil_scoped_release free;
                const Moves moves = std::visit(
                    [&](const auto& rows) {
                        return kesler_pass(rows, self.rule, self.seen, y.data(), step ? step->data() : nullptr,
                                           order ? order->data() : nullptr, begin, end, limit);
                    },
                    X.view);
                self.updates[0] += moves.updates;
                self.visits[0] += moves.visits;
                return {moves.updates, moves.visits, moves.last};
            },
            "X"_a, "y"_a.noconvert(), "step"_a.noconvert().none(), "order"_a.noconvert().none(), "begin"_a, "end"_a,
            "limit"_a)
        .def(
            "binary_scored",
            [](Self& self, i64 k, const Rows& X, Vector<i8> y, Maybe step, i64 begin, i64 end,
               Out<double> out) -> Counts {
                if (k < 0 || k >= self.rule.count) throw nb::value_error("k names a vector that does not exist");
                if (X.d != self.rule.d) throw nb::value_error("X must have the features of the vectors");
                need_length(y, X.n, "y must hold a label for every row");
                need_length(out, X.n, "out must have room for every row");
                if (step) need_length(*step, X.n, "step must hold a number for every row");
                need_positions(MaybeOrder{}, X.n, begin, end);
                nb::gil_scoped_release free;
                const Moves moves = std::visit(
                    [&](const auto& rows) {
                        return scored_pass(rows, self.rule, k, y.data(), step ? step->data() : nullptr, begin, end,
                                           out.data());
                    },
                    X.view);
                self.updates[k] += moves.updates;
                self.visits[k] += moves.visits;
                return {moves.updates, moves.visits, moves.last};
            },
            "k"_a, "X"_a, "y"_a.noconvert(), "step"_a.noconvert().none(), "begin"_a, "end"_a, "out"_a.noconvert())
        .def(
            "kesler_scored",
            [](Self& self, const Rows& X, Vector<i32> y, Maybe step, i64 begin, i64 end, Matrix out) -> Counts {
                if (!self.seen) throw nb::value_error("Kesler's rule needs the marks of the vectors seen");
                if (X.d != self.rule.d) throw nb::value_error("X must have the features of the vectors");
                need_length(y, X.n, "y must hold a number for every row");
                for (i64 i = 0; i < X.n; ++i)
                    if (y.data()[i] >= self.rule.count) throw nb::value_error("y names a vector that does not exist");
                if (static_cast<i64>(out.shape(0)) != X.n || static_cast<i64>(out.shape(1)) != self.rule.count)
                    throw nb::value_error("out must have a row for every row and a column for every vector");
                if (step) need_length(*step, X.n, "step must hold a number for every row");
                need_positions(MaybeOrder{}, X.n, begin, end);
                nb::gil_scoped_release free;
                const Moves moves = std::visit(
                    [&](const auto& rows) {
                        return scored_kesler_pass(rows, self.rule, self.seen, y.data(), step ? step->data() : nullptr,
                                                  begin, end, out.data());
                    },
                    X.view);
                self.updates[0] += moves.updates;
                self.visits[0] += moves.visits;
                return {moves.updates, moves.visits, moves.last};
            },
            "X"_a, "y"_a.noconvert(), "step"_a.noconvert().none(), "begin"_a, "end"_a, "out"_a.noconvert())
        .def(
            "learn",
            [](Self& self, nb::handle x, i64 code, double weight) {
                self.learn(OneRow(x, self.rule.d).row, code, weight);
            },
            "x"_a, "code"_a, "weight"_a)
        .def(
            "learn_pairs",
            [](Self& self, Vector<double> value, Vector<i64> column, i64 code, double weight) {
                const i64 start[2] = {0, static_cast<i64>(value.shape(0))};
                self.learn(one_row(value, column, start, self.rule.d), code, weight);
            },
            "value"_a.noconvert(), "column"_a.noconvert(), "code"_a, "weight"_a)
        .def(
            "learn_dict",
            [](Self& self, Names<nb::any> x, Names<int> index, i64 code, double weight) {
                features.read(x, index, self.rule.d, false);
                const i64 start[2] = {0, static_cast<i64>(features.value.size())};
                self.learn(Csr<double, i64>{features.value.data(), features.column.data(), start, 1, self.rule.d},
                           code, weight);
            },
            "x"_a, "index"_a, "code"_a, "weight"_a)
        .def(
            "scores_dict",
            [](const Self& self, Names<nb::any> x, Names<int> index, bool skip_unknown, Out<double> out) {
                features.read(x, index, self.rule.d, skip_unknown);
                const i64 start[2] = {0, static_cast<i64>(features.value.size())};
                self.scores(Csr<double, i64>{features.value.data(), features.column.data(), start, 1, self.rule.d},
                            out);
            },
            "x"_a, "index"_a, "skip_unknown"_a, "out"_a.noconvert())
        .def(
            "stream_dicts",
            [](Self& self, nb::typed<nb::iterator, nb::any> rows, Names<int> index,
               nb::typed<nb::dict, nb::any, int> codes, bool open, nb::typed<nb::object, nb::any> column_of,
               Names<nb::any> owner, Matrix scores, Out<i64> own, nb::typed<nb::list, nb::str> levels) -> Streamed {
                return stream_dicts(self, rows, index, codes, open, column_of, owner, scores, own, levels);
            },
            "rows"_a, "index"_a, "codes"_a, "grows"_a, "column_of"_a.none(), "owner"_a, "scores"_a.noconvert(),
            "own"_a.noconvert(), "levels"_a)
        .def(
            "scores",
            [](const Self& self, nb::handle x, Out<double> out) { self.scores(OneRow(x, self.rule.d).row, out); },
            "x"_a, "out"_a.noconvert())
        .def(
            "scores_pairs",
            [](const Self& self, Vector<double> value, Vector<i64> column, Out<double> out) {
                const i64 start[2] = {0, static_cast<i64>(value.shape(0))};
                self.scores(one_row(value, column, start, self.rule.d), out);
            },
            "value"_a.noconvert(), "column"_a.noconvert(), "out"_a.noconvert())
        .def(
            "score",
            [](const Self& self, nb::handle x, i64 at) {
                if (at < 0 || at >= self.rule.count) throw nb::value_error("at names a vector that does not exist");
                const double s = self.rule.score(OneRow(x, self.rule.d).row, 0, at);
                if (!std::isfinite(s)) throw nb::value_error("the score is not finite");
                return s;
            },
            "x"_a, "at"_a)
        .def(
            "best",
            [](const Self& self, nb::handle x, i64 count) {
                if (count < 1 || count > self.rule.count) throw nb::value_error("there are not so many vectors");
                const OneRow one(x, self.rule.d);
                i64 best = 0;
                double most = 0;
                for (i64 k = 0; k < count; ++k) {
                    const double s = self.rule.score(one.row, 0, k);
                    if (!std::isfinite(s)) throw nb::value_error("a score is not finite");
                    if (k == 0 || s > most) best = k, most = s;
                }
                return best;
            },
            "x"_a, "count"_a);
}

#define SHARED_ARGUMENTS \
    "lifted"_a.noconvert(), "updates"_a.noconvert(), "visits"_a.noconvert(), "seen"_a.noconvert().none(), "bias"_a

void bind_online(nb::module_& m) {
    bind_rule<PlainRule>(m, "PlainRule")
        .def(
            "__init__",
            [](Held<PlainRule>* self, Matrix lifted, Out<i64> updates, Out<i64> visits, MaybeSeen seen, bool bias,
               bool zero_is_mistake) {
                const Shared s{lifted, updates, visits, seen, bias};
                hold(self, s, PlainRule{vectors(s), zero_is_mistake});
            },
            SHARED_ARGUMENTS, "zero_is_mistake"_a);
    bind_rule<AveragedRule>(m, "AveragedRule")
        .def(
            "__init__",
            [](Held<AveragedRule>* self, Matrix lifted, Out<i64> updates, Out<i64> visits, MaybeSeen seen, bool bias,
               bool zero_is_mistake, Matrix total, Out<i64> looks) {
                const Shared s{lifted, updates, visits, seen, bias};
                const Vectors v = vectors(s);
                need_rows_of(total, v, v.d + 1, "total must have the shape of lifted");
                need_length(looks, v.count, "looks must hold a number for every vector");
                hold(self, s, AveragedRule{v, zero_is_mistake, total.data(), looks.data()}, total, looks);
            },
            SHARED_ARGUMENTS, "zero_is_mistake"_a, "total"_a.noconvert(), "looks"_a.noconvert());
    bind_rule<MarginRule>(m, "MarginRule")
        .def(
            "__init__",
            [](Held<MarginRule>* self, Matrix lifted, Out<i64> updates, Out<i64> visits, MaybeSeen seen, bool bias,
               double margin, bool relative, Out<double> norm2, Out<i64> moved) {
                const Shared s{lifted, updates, visits, seen, bias};
                const Vectors v = vectors(s);
                need_length(norm2, v.count, "norm2 must hold a number for every vector");
                need_length(moved, v.count, "moved must hold a number for every vector");
                hold(self, s, MarginRule{v, true, margin, relative, norm2.data(), moved.data()}, norm2, moved);
            },
            SHARED_ARGUMENTS, "margin"_a, "relative"_a, "norm2"_a.noconvert(), "moved"_a.noconvert());
    bind_rule<PassiveAggressiveRule>(m, "PassiveAggressiveRule")
        .def(
            "__init__",
            [](Held<PassiveAggressiveRule>* self, Matrix lifted, Out<i64> updates, Out<i64> visits, MaybeSeen seen,
               bool bias, int variant, double C) {
                const Shared s{lifted, updates, visits, seen, bias};
                if (variant < 0 || variant > 2) throw nb::value_error("variant must be 0, 1 or 2");
                hold(self, s, PassiveAggressiveRule{vectors(s), true, variant, C});
            },
            SHARED_ARGUMENTS, "variant"_a, "C"_a);
    bind_rule<ArowDiagonalRule>(m, "ArowDiagonalRule")
        .def(
            "__init__",
            [](Held<ArowDiagonalRule>* self, Matrix lifted, Out<i64> updates, Out<i64> visits, MaybeSeen seen,
               bool bias, double r, Matrix variance) {
                const Shared s{lifted, updates, visits, seen, bias};
                const Vectors v = vectors(s);
                need_rows_of(variance, v, v.d + 1, "variance must have the shape of lifted");
                hold(self, s, ArowDiagonalRule{v, true, r, variance.data(), {}}, variance);
            },
            SHARED_ARGUMENTS, "r"_a, "variance"_a.noconvert());
    bind_rule<ArowFullRule>(m, "ArowFullRule")
        .def(
            "__init__",
            [](Held<ArowFullRule>* self, Matrix lifted, Out<i64> updates, Out<i64> visits, MaybeSeen seen, bool bias,
               double r, InOut<double, nb::ndim<3>> covariance) {
                const Shared s{lifted, updates, visits, seen, bias};
                const Vectors v = vectors(s);
                need_rows_of(covariance, v, (v.d + 1) * (v.d + 1), "covariance must hold a matrix for every vector");
                hold(self, s, ArowFullRule{v, true, r, covariance.data(), {}}, covariance);
            },
            SHARED_ARGUMENTS, "r"_a, "covariance"_a.noconvert());
}

}  // namespace separatrix
