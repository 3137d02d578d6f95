#include "separatrix/text.hpp"

#include <nanobind/stl/tuple.h>

#include <tuple>

#include "rows.hpp"

namespace separatrix {

using Account = std::tuple<i64, i64, i64, i64, i64, int>;

static Account account(const Parsed& p) {
    return {p.rows, p.entries, p.most < 0 ? 0 : p.least, p.most, p.at, static_cast<int>(p.fault)};
}

template <class Array>
static i64 size_of(const Array& a) {
    return static_cast<i64>(a.shape(0));
}

void bind_text(nb::module_& m) {
    m.def(
        "count_byte",
        [](Vector<std::uint8_t> text, int wanted) {
            const char* p = reinterpret_cast<const char*>(text.data());
            const i64 n = size_of(text);
            nb::gil_scoped_release free;
            return count_byte(p, p + n, static_cast<char>(wanted));
        },
        "text"_a.noconvert(), "wanted"_a);
    m.def(
        "svmlight_chunk",
        [](Vector<std::uint8_t> text, i64 base, Out<i32> ends, Out<i32> indices, Out<double> values,
           Out<double> labels) {
            const char* p = reinterpret_cast<const char*>(text.data());
            if (base != 0 && base != 1) throw nb::value_error("features are counted from 0 or 1");
            const i64 most = std::numeric_limits<i32>::max();
            const Room room{std::min(size_of(ends), size_of(labels)),
                            std::min({size_of(indices), size_of(values), most})};
            nb::gil_scoped_release free;
            return account(parse_svmlight(p, size_of(text), base, room, ends.data(), indices.data(), values.data(),
                                          labels.data()));
        },
        "text"_a.noconvert(), "base"_a, "ends"_a.noconvert(), "indices"_a.noconvert(), "values"_a.noconvert(),
        "labels"_a.noconvert());
}

}  // namespace separatrix
