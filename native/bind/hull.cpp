#include "separatrix/hull.hpp"

#include <nanobind/stl/tuple.h>

#include <tuple>

#include "rows.hpp"

namespace separatrix {

namespace {

// How many groups there are, after a look at all labels and arrays that both spaces share.
i64 groups_of(const Vector<i8>& group, i64 m, const Vector<i64>& start, const Vector<double>& start_weights) {
    need_length(group, m, "group must hold a number for every row");
    need_length(start_weights, static_cast<i64>(start.shape(0)), "start needs a weight for every row");
    i64 seen[2] = {};
    for (i64 i = 0; i < m; ++i) {
        if (group.data()[i] != 0 && group.data()[i] != 1) throw nb::value_error("group holds 0 and 1");
        ++seen[group.data()[i]];
    }
    if (!seen[0]) throw nb::value_error("group 0 has no rows");
    need_below(start, m, "start leaves the rows");
    return seen[1] ? 2 : 1;
}

template <class Space>
std::tuple<int, i64, i64> solve(Space& space, const Vector<i8>& group, i64 m, i64 groups, const Vector<i64>& start,
                                const Vector<double>& start_weights, double c, double zero, i64 max_steps,
                                Out<i64>& support, Out<double>& weights) {
    const std::vector<i64> first(start.data(), start.data() + start.shape(0));
    const std::vector<double> x(start_weights.data(), start_weights.data() + start.shape(0));
    Hull<Space> hull(space, group.data(), m, groups);
    typename Hull<Space>::Status status;
    {
        nb::gil_scoped_release free;
        status = hull.solve(first, x, c, zero, max_steps, [] {
            nb::gil_scoped_acquire held;
            return PyErr_CheckSignals() == 0;
        });
    }
    if (status == Hull<Space>::interrupted) throw nb::python_error();
    std::copy(hull.support.begin(), hull.support.end(), support.data());
    std::copy(hull.x.begin(), hull.x.end(), weights.data());
    return {status, static_cast<i64>(hull.support.size()), hull.steps};
}

}  // namespace

void bind_hull(nb::module_& m) {
    m.def(
        "nearest_hulls",
        [](In<double, nb::ndim<2>> A, Vector<i8> group, Vector<i64> start, Vector<double> start_weights, double c,
           double zero, i64 max_steps, Out<i64> support, Out<double> weights, Out<double> v) {
            const i64 m = static_cast<i64>(A.shape(0)), q = static_cast<i64>(A.shape(1));
            need_length(v, q, "v must hold a number for every column");
            const i64 groups = groups_of(group, m, start, start_weights);
            need_length(support, q + groups, "support must hold a row for every column and group");
            need_length(weights, q + groups, "weights must hold a row for every column and group");
            Coordinates space(A.data(), group.data(), m, q, groups);
            const auto out =
                solve(space, group, m, groups, start, start_weights, c, zero, max_steps, support, weights);
            std::copy(space.v.begin(), space.v.end(), v.data());
            return out;
        },
        "A"_a.noconvert(), "group"_a.noconvert(), "start"_a.noconvert(), "start_weights"_a.noconvert(), "c"_a,
        "zero"_a, "max_steps"_a, "support"_a.noconvert(), "weights"_a.noconvert(), "v"_a.noconvert());
    m.def(
        "nearest_products",
        [](In<double, nb::ndim<2>> K, Vector<i8> group, Vector<i64> start, Vector<double> start_weights, double c,
           double zero, i64 max_steps, Out<i64> support, Out<double> weights) {
            const i64 m = static_cast<i64>(K.shape(0));
            if (static_cast<i64>(K.shape(1)) != m) throw nb::value_error("K must hold a product for every two rows");
            need_length(support, m, "support must have room for every row");
            need_length(weights, m, "weights must have room for every row");
            const i64 groups = groups_of(group, m, start, start_weights);
            Products space(K.data(), group.data(), m);
            return solve(space, group, m, groups, start, start_weights, c, zero, max_steps, support, weights);
        },
        "K"_a.noconvert(), "group"_a.noconvert(), "start"_a.noconvert(), "start_weights"_a.noconvert(), "c"_a,
        "zero"_a, "max_steps"_a, "support"_a.noconvert(), "weights"_a.noconvert());
}

}  // namespace separatrix
