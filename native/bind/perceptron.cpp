#include "separatrix/dense_perceptron.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>

#include <limits>
#include <optional>
#include <tuple>

#include "look_ahead.hpp"
#include "rows.hpp"

namespace separatrix {

using Maybe = std::optional<Vector<double>>;
using MaybeLog = std::optional<Out<i64>>;
using Counts = std::tuple<i64, i64, i64>;

static Counts counts(const Moves& m) { return {m.updates, m.visits, m.last}; }

static Perceptron checked(const Rows& X, const Vector<i8>& y, const Maybe& step, Out<double>& lifted, bool bias,
                          bool zero_is_mistake, MaybeLog& log, i64& limit) {
    need_length(y, X.n, "y must hold a label for every row");
    need_length(lifted, X.d + 1, "lifted must hold d weights and the bias");
    if (step) need_length(*step, X.n, "step must hold a number for every row");
    if (limit < 0) throw nb::value_error("limit must not be negative");
    if (log && static_cast<i64>(log->shape(0)) < limit) limit = static_cast<i64>(log->shape(0));
    return {y.data(), step ? step->data() : nullptr, lifted.data(), bias, zero_is_mistake,
            log ? log->data() : nullptr};
}

void bind_perceptron(nb::module_& m) {
    m.def(
        "perceptron_pass",
        [](const Rows& X, Vector<i8> y, Maybe step, std::optional<Vector<i64>> order, Out<double> lifted, bool bias,
           bool zero_is_mistake, MaybeLog log, i64 begin, i64 end, i64 limit, std::optional<Out<i8>> habit,
           Lookahead* ahead) {
            Perceptron p = checked(X, y, step, lifted, bias, zero_is_mistake, log, limit);
            if (habit) {
                need_length(*habit, X.n, "habit must hold a number for every row");
                p.habit = habit->data();
            }
            need_positions(order, X.n, begin, end);
            need_fresh(ahead);
            const i64* rows_at = order ? order->data() : nullptr;
            nb::gil_scoped_release free;
            return counts(std::visit(
                [&](const auto& rows) {
                    const auto run = [&](i64 from, i64 to, i64 most) {
                        const Moves moves = perceptron_pass(rows, p, rows_at, from, to, most);
                        if (p.log) p.log += moves.updates;
                        return moves;
                    };
                    if constexpr (requires { rows.x; })
                        if (ahead)
                            return pass_ahead(*ahead, rows, p.y, rows_at, p.w, 0.0, begin, end, limit, run,
                                              [](i64, i64) {});
                    return run(begin, end, limit);
                },
                X.view));
        },
        "X"_a, "y"_a.noconvert(), "step"_a.noconvert().none(), "order"_a.noconvert().none(), "lifted"_a.noconvert(),
        "bias"_a, "zero_is_mistake"_a, "log"_a.noconvert().none(), "begin"_a, "end"_a, "limit"_a,
        "habit"_a.noconvert().none() = nb::none(), "ahead"_a.none() = nb::none());
    nb::class_<Lookahead>(m, "Lookahead")
        .def(
            "__init__",
            [](Lookahead* self, i64 helpers, i64 alone, i64 block) {
                if (helpers < 1 || alone < 1 || block < 1) throw nb::value_error("a lookahead needs positive numbers");
                new (self) Lookahead(helpers, alone, block);
            },
            "helpers"_a, "alone"_a, "block"_a)
        .def("help", &Lookahead::help, "number"_a, nb::call_guard<nb::gil_scoped_release>())
        .def("close", &Lookahead::close, nb::call_guard<nb::gil_scoped_release>())
        .def_ro("rounds", &Lookahead::rounds)
        .def_ro("passed_over", &Lookahead::passed_over);
    m.def(
        "perceptron_restart",
        [](const Rows& X, Vector<i8> y, Maybe step, Out<double> lifted, bool bias, bool zero_is_mistake, MaybeLog log,
           i64 begin, i64 limit, i64 budget) {
            const Perceptron p = checked(X, y, step, lifted, bias, zero_is_mistake, log, limit);
            if (begin < 0 || begin > X.n) throw nb::value_error("begin leaves the rows");
            nb::gil_scoped_release free;
            return counts(std::visit(
                [&](const auto& rows) { return perceptron_restart(rows, p, begin, limit, budget); }, X.view));
        },
        "X"_a, "y"_a.noconvert(), "step"_a.noconvert().none(), "lifted"_a.noconvert(), "bias"_a, "zero_is_mistake"_a,
        "log"_a.noconvert().none(), "begin"_a, "limit"_a, "budget"_a);
    m.def(
        "perceptron_worst",
        [](const Rows& X, Vector<i8> y, Maybe step, Out<double> lifted, bool bias, bool zero_is_mistake, MaybeLog log,
           Maybe norm, i64 limit, i64 budget) {
            const Perceptron p = checked(X, y, step, lifted, bias, zero_is_mistake, log, limit);
            if (norm) need_length(*norm, X.n, "norm must hold a number for every row");
            nb::gil_scoped_release free;
            return counts(std::visit(
                [&](const auto& rows) {
                    return perceptron_worst(rows, p, norm ? norm->data() : nullptr, limit, budget);
                },
                X.view));
        },
        "X"_a, "y"_a.noconvert(), "step"_a.noconvert().none(), "lifted"_a.noconvert(), "bias"_a, "zero_is_mistake"_a,
        "log"_a.noconvert().none(), "norm"_a.noconvert().none(), "limit"_a, "budget"_a);
    m.def(
        "perceptron_any",
        [](const Rows& X, Vector<i8> y, Maybe step, Out<double> lifted, bool bias, bool zero_is_mistake, MaybeLog log,
           Out<u64> state, Out<i64> found, i64 limit, i64 budget) {
            const Perceptron p = checked(X, y, step, lifted, bias, zero_is_mistake, log, limit);
            need_length(state, 1, "state must be one word");
            need_length(found, X.n, "found must have room for every row");
            nb::gil_scoped_release free;
            return counts(std::visit(
                [&](const auto& rows) {
                    return perceptron_any(rows, p, state.data()[0], found.data(), limit, budget);
                },
                X.view));
        },
        "X"_a, "y"_a.noconvert(), "step"_a.noconvert().none(), "lifted"_a.noconvert(), "bias"_a, "zero_is_mistake"_a,
        "log"_a.noconvert().none(), "state"_a.noconvert(), "found"_a.noconvert(), "limit"_a, "budget"_a);
    m.def(
        "words",
        [](Out<u64> out, Out<u64> state) {
            need_length(state, 1, "state must be one word");
            for (std::size_t k = 0; k < out.shape(0); ++k) out.data()[k] = next(state.data()[0]);
        },
        "out"_a.noconvert(), "state"_a.noconvert());
    m.def(
        "shuffle",
        [](Out<i64> order, Out<u64> state) {
            need_length(state, 1, "state must be one word");
            nb::gil_scoped_release free;
            shuffle(order.data(), static_cast<i64>(order.shape(0)), state.data()[0]);
        },
        "order"_a.noconvert(), "state"_a.noconvert());
}

}  // namespace separatrix
