#include "separatrix/voted.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>

#include <optional>
#include <tuple>

#include "rows.hpp"

namespace separatrix {

using Maybe = std::optional<Vector<double>>;
using MaybeOrder = std::optional<Vector<i64>>;
using Matrix = nb::ndarray<double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

void bind_voted(nb::module_& m) {
    m.def(
        "voted_pass",
        [](const Rows& X, Vector<i8> y, Maybe step, MaybeOrder order, Out<double> lifted, bool bias,
           bool zero_is_mistake, Matrix kept, Out<i64> votes, Out<i64> born, Out<i64> account, i64 begin, i64 end,
           i64 limit) -> std::tuple<i64, i64, i64> {
            need_length(y, X.n, "y must hold a label for every row");
            need_length(lifted, X.d + 1, "lifted must hold d weights and the bias");
            if (step) need_length(*step, X.n, "step must hold a number for every row");
            const i64 room = static_cast<i64>(kept.shape(0));
            if (room && static_cast<i64>(kept.shape(1)) != X.d + 1)
                throw nb::value_error("kept must hold lifted vectors of d weights and the bias");
            need_length(votes, room, "votes must hold a number for every kept vector");
            need_length(born, room, "born must hold a number for every kept vector");
            need_length(account, 4, "account must hold four numbers");
            i64* a = account.data();
            if (a[1] < 0 || a[1] > room) throw nb::value_error("more vectors are kept than there is room for");
            need_positions(order, X.n, begin, end);
            const Perceptron p{y.data(), step ? step->data() : nullptr, lifted.data(), bias, zero_is_mistake, nullptr};
            const Voters v{kept.data(), votes.data(), born.data(), room, a, a + 1, a + 2, a + 3};
            nb::gil_scoped_release free;
            const Moves moves = std::visit(
                [&](const auto& rows) {
                    return voted_pass(rows, p, v, order ? order->data() : nullptr, begin, end, limit);
                },
                X.view);
            return {moves.updates, moves.visits, moves.last};
        },
        "X"_a, "y"_a.noconvert(), "step"_a.noconvert().none(), "order"_a.noconvert().none(), "lifted"_a.noconvert(),
        "bias"_a, "zero_is_mistake"_a, "kept"_a.noconvert(), "votes"_a.noconvert(), "born"_a.noconvert(),
        "account"_a.noconvert(), "begin"_a, "end"_a, "limit"_a);
    m.def(
        "votes",
        [](const Rows& X, In<double, nb::ndim<2>> vectors, Vector<i64> counts, Out<double> out) {
            const i64 count = static_cast<i64>(vectors.shape(0));
            if (count && static_cast<i64>(vectors.shape(1)) != X.d + 1)
                throw nb::value_error("vectors must hold d weights and the bias");
            need_length(counts, count, "counts must hold a number for every vector");
            need_length(out, X.n, "out must hold a number for every row");
            nb::gil_scoped_release free;
            std::visit([&](const auto& rows) { votes(rows, vectors.data(), counts.data(), count, out.data()); },
                       X.view);
        },
        "X"_a, "vectors"_a.noconvert(), "counts"_a.noconvert(), "out"_a.noconvert());
}

}  // namespace separatrix
