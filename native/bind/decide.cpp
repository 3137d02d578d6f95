#include "separatrix/decide.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>

#include <memory>
#include <optional>
#include <tuple>

#include "rows.hpp"

namespace separatrix {

using Matrix = In<double, nb::ndim<2>>;
using RunParts = nb::typed<nb::callable, void(nb::typed<nb::callable, void(i64)>, i64)>;  // of (work, count)

void bind_decide(nb::module_& m) {
    m.def(
        "decide",
        [](const Rows& X, Vector<i8> y, bool intercept, std::optional<Vector<i64>> active,
           std::optional<Matrix> extra, std::optional<Matrix> map, u64 seed, Out<double> w, Out<i64> support,
           Out<double> weights, std::optional<RunParts> side_by_side) {
            const i64 p = X.d + (intercept ? 1 : 0);
            need_length(y, X.n, "y must hold a label for every row");
            need_length(w, p, "w must hold a number for every column");
            if (extra && static_cast<i64>(extra->shape(1)) != p) throw nb::value_error("extra rows need p columns");
            if (map) need_length(*map, p, "map must have a row for every column");
            Question ask{};
            ask.y = y.data(), ask.intercept = intercept, ask.seed = seed;
            if (active) {
                ask.active = active->data(), ask.n_active = static_cast<i64>(active->shape(0));
                need_below(*active, X.n, "active leaves the rows");
            }
            if (extra) ask.extra = extra->data(), ask.n_extra = static_cast<i64>(extra->shape(0));
            if (map) ask.map = map->data(), ask.q = static_cast<i64>(map->shape(1));
            if ((map ? ask.q : p) < 1) throw nb::value_error("there must be at least one column");
            need_length(support, (map ? ask.q : p) + 1, "support must hold one row more than columns");
            need_length(weights, (map ? ask.q : p) + 1, "weights must hold one row more than columns");
            if (side_by_side)
                ask.side_by_side = [&](i64 count, const std::function<void(i64)>& work) {
                    nb::gil_scoped_acquire held;
                    const auto open = std::make_shared<bool>(true);  // parts are run before this call returns, or never
                    const auto part = [&work, open, count](i64 k) {
                        if (!*open || k < 0 || k >= count) throw nb::value_error("there is no such part");
                        nb::gil_scoped_release free;
                        work(k);
                    };
                    try {
                        (*side_by_side)(nb::cpp_function(part), count);
                    } catch (...) {
                        *open = false;
                        throw;
                    }
                    *open = false;
                };
            ask.look_up = [] {
                nb::gil_scoped_acquire held;
                if (PyErr_CheckSignals() != 0) throw nb::python_error();
            };
            nb::gil_scoped_release free;
            const Decision out = std::visit([&](const auto& rows) { return Decider(rows, ask).run(); }, X.view);
            std::copy(out.w.begin(), out.w.end(), w.data());
            std::copy(out.support.begin(), out.support.end(), support.data());
            std::copy(out.weights.begin(), out.weights.end(), weights.data());
            return std::tuple<int, i64, i64, i64, double>(out.status, static_cast<i64>(out.support.size()), out.rounds,
                                                          out.scanned, out.distance);
        },
        "X"_a, "y"_a.noconvert(), "intercept"_a, "active"_a.noconvert().none(), "extra"_a.noconvert().none(),
        "basis"_a.noconvert().none(), "seed"_a, "w"_a.noconvert(), "support"_a.noconvert(), "weights"_a.noconvert(),
        "side_by_side"_a.none() = nb::none());
}

}  // namespace separatrix
