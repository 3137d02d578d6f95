#include "separatrix/mistakes.hpp"

#include <nanobind/stl/function.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <tuple>

#include "rows.hpp"
#include "separatrix/linear.hpp"
#include "separatrix/zero_one.hpp"

namespace separatrix {

using Matrix = In<double, nb::ndim<2>>;
using Codes = MistakeTree::Codes;

void need_rows(const Codes& codes, i64 n) {
    for (i32 c : codes)
        if ((c < 0 ? ~c : c) >= n) throw nb::value_error("a witness names a row that does not exist");
}

MistakeTree::Prove checked(const std::function<Codes(Codes)>& by, i64 n) {
    return [&by, n](Codes& codes) {
        nb::gil_scoped_acquire hold;
        codes = by(codes);
        need_rows(codes, n);
        return !codes.empty();
    };
}

MistakeTree::Late asked(const std::function<bool()>& late) {
    if (!late) return {};
    return [&late] {
        nb::gil_scoped_acquire hold;
        return late();
    };
}

void bind_mistakes(nb::module_& m) {
    m.def(
        "line_minimum",
        [](Vector<double> s, Vector<double> q) {
            need_length(q, static_cast<i64>(s.shape(0)), "q must hold a slope for every margin");
            std::vector<std::pair<double, i8>> room;
            const LineMinimum best = line_minimum(s.data(), q.data(), static_cast<i64>(s.shape(0)), room);
            return std::tuple<double, i64>(best.t, best.mistakes);
        },
        "s"_a.noconvert(), "q"_a.noconvert());
    m.def(
        "zero_one_descent",
        [](const Rows& X, Vector<i8> y, bool intercept, Vector<double> center, Vector<double> scale, Out<double> w,
           Out<u64> state, i64 restarts, i64 lines) {
            need_length(y, X.n, "y must hold a label for every row");
            need_length(center, X.d, "center must hold a number for every column");
            need_length(scale, X.d, "scale must hold a number for every column");
            need_length(w, X.d + (intercept ? 1 : 0), "w must hold a number for every column");
            need_length(state, 1, "state must hold one word");
            if (X.d + (intercept ? 1 : 0) < 1) throw nb::value_error("there must be at least one column");
            nb::gil_scoped_release free;
            return std::visit(
                [&](const auto& rows) {
                    return ZeroOneDescent(rows, y.data(), intercept, center.data(), scale.data(), w.data(),
                                          state.data()[0])
                        .run(restarts, lines);
                },
                X.view);
        },
        "X"_a, "y"_a.noconvert(), "intercept"_a, "center"_a.noconvert(), "scale"_a.noconvert(), "w"_a.noconvert(),
        "state"_a.noconvert(), "restarts"_a, "lines"_a);
    nb::class_<MistakeTree>(m, "MistakeTree")
        .def(
            "__init__",
            [](MistakeTree* self, Matrix z, bool exact) {
                const i64 n = static_cast<i64>(z.shape(0)), p = static_cast<i64>(z.shape(1));
                if (n < 1 || p < 1 || n >= MistakeTree::impossible) throw nb::value_error("z must hold rows of numbers");
                if (first_nonfinite(z.data(), n * p) >= 0) throw nb::value_error("z must be finite");
                new (self) MistakeTree(z.data(), n, p, exact);
            },
            "z"_a.noconvert(), "exact"_a)
        .def(
            "start",
            [](MistakeTree& self, const std::vector<Codes>& witnesses, const std::function<Codes(Codes)>& by,
               const std::function<bool()>& late) {
                if (!self.cases.empty()) throw nb::value_error("the search has been started");
                for (const Codes& codes : witnesses) need_rows(codes, self.rows());
                nb::gil_scoped_release free;
                self.start(witnesses, checked(by, self.rows()), asked(late));
            },
            "witnesses"_a, "prove"_a, "late"_a = nb::none(),
            nb::sig("def start(self, witnesses: collections.abc.Sequence[collections.abc.Sequence[int]], "
                    "prove: collections.abc.Callable[[list[int]], list[int]], "
                    "late: collections.abc.Callable[[], bool] | None = None) -> None"))
        .def(
            "run",
            [](MistakeTree& self, i64 more, i32 gap, const std::function<Codes(Codes)>& by,
               const std::function<bool()>& late) {
                nb::gil_scoped_release free;
                self.run(more, gap, checked(by, self.rows()), asked(late));
            },
            "more"_a, "gap"_a, "prove"_a, "late"_a = nb::none(),
            nb::sig("def run(self, more: int, gap: int, "
                    "prove: collections.abc.Callable[[list[int]], list[int]], "
                    "late: collections.abc.Callable[[], bool] | None = None) -> None"))
        .def(
            "offer",
            [](MistakeTree& self, i32 mistakes, Vector<double> w) {
                need_length(w, self.columns(), "w must hold a number for every column");
                self.offer(mistakes, w.data());
            },
            "mistakes"_a, "w"_a.noconvert())
        .def("take", &MistakeTree::take)
        .def("tree",
             [](const MistakeTree& self) {
                 std::vector<std::tuple<i32, i32, i32, std::vector<i32>, std::vector<i32>, i32>> out;
                 for (const Case& c : self.cases)
                     out.push_back({c.bound, c.divided < 0 ? -1 : self.cases[c.divided].row, c.divided, c.packed, c.weights, c.over});
                 return out;
             })
        .def_prop_ro("witnesses", [](const MistakeTree& self) { return self.witnesses; })
        .def_prop_ro("lower", &MistakeTree::lower)
        .def_ro("best", &MistakeTree::best)
        .def_ro("nodes", &MistakeTree::nodes)
        .def_ro("questions", &MistakeTree::questions)
        .def_ro("doubtful", &MistakeTree::doubtful);
}

}  // namespace separatrix
