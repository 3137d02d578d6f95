#include "separatrix/pocket.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>

#include <optional>
#include <tuple>

#include "rows.hpp"

namespace separatrix {

using Maybe = std::optional<Vector<double>>;
using MaybeOrder = std::optional<Vector<i64>>;

static Pocket pocket_of(const Rows& X, Out<double>& pocket, Out<double>& error, const Maybe& weight, Out<i64>& account,
                        double share) {
    need_length(pocket, X.d + 1, "pocket must hold d weights and the bias");
    need_length(error, 1, "error must be one number");
    if (weight) need_length(*weight, X.n, "weight must hold a number for every row");
    need_length(account, 5, "account must hold five numbers");
    i64* a = account.data();
    return {pocket.data(), error.data(), weight ? weight->data() : nullptr, a, a + 1, a + 2, a + 3, a + 4, share};
}

void bind_pocket(nb::module_& m) {
    m.def(
        "pocket_pass",
        [](const Rows& X, Vector<i8> y, Maybe step, MaybeOrder order, Out<double> lifted, bool bias,
           bool zero_is_mistake, Out<double> pocket, Out<double> error, Maybe weight, Out<i64> account, double share,
           i64 begin, i64 end, i64 limit) -> std::tuple<i64, i64, i64> {
            need_length(y, X.n, "y must hold a label for every row");
            need_length(lifted, X.d + 1, "lifted must hold d weights and the bias");
            if (step) need_length(*step, X.n, "step must hold a number for every row");
            need_positions(order, X.n, begin, end);
            const Perceptron p{y.data(), step ? step->data() : nullptr, lifted.data(), bias, zero_is_mistake, nullptr};
            const Pocket held = pocket_of(X, pocket, error, weight, account, share);
            nb::gil_scoped_release free;
            const Moves moves = std::visit(
                [&](const auto& rows) {
                    return pocket_pass(rows, p, held, order ? order->data() : nullptr, begin, end, limit);
                },
                X.view);
            return {moves.updates, moves.visits, moves.last};
        },
        "X"_a, "y"_a.noconvert(), "step"_a.noconvert().none(), "order"_a.noconvert().none(), "lifted"_a.noconvert(),
        "bias"_a, "zero_is_mistake"_a, "pocket"_a.noconvert(), "error"_a.noconvert(), "weight"_a.noconvert().none(),
        "account"_a.noconvert(), "share"_a, "begin"_a, "end"_a, "limit"_a);
    m.def(
        "pocket_count",
        [](const Rows& X, Vector<i8> y, Vector<double> lifted, bool zero_is_mistake, Out<double> pocket,
           Out<double> error, Maybe weight, Out<i64> account) {
            need_length(y, X.n, "y must hold a label for every row");
            need_length(lifted, X.d + 1, "lifted must hold d weights and the bias");
            const Perceptron p{y.data(), nullptr, const_cast<double*>(lifted.data()), false, zero_is_mistake, nullptr};
            const Pocket held = pocket_of(X, pocket, error, weight, account, 0);
            nb::gil_scoped_release free;
            return std::visit([&](const auto& rows) { return pocket_count(rows, p, held); }, X.view);
        },
        "X"_a, "y"_a.noconvert(), "lifted"_a.noconvert(), "zero_is_mistake"_a, "pocket"_a.noconvert(),
        "error"_a.noconvert(), "weight"_a.noconvert().none(), "account"_a.noconvert());
}

}  // namespace separatrix
