#include "separatrix/monomials.hpp"

#include <limits>
#include <stdexcept>
#include <type_traits>

#include "rows.hpp"

namespace separatrix {

template <class T>
void bind_monomials_of(nb::module_& m) {
    m.def(
        "monomials",
        [](In<T, nb::ndim<2>> X, In<i64, nb::ndim<2>> products,
           nb::ndarray<T, nb::ndim<2>, nb::c_contig, nb::device::cpu> out) {
            const i64 n = static_cast<i64>(X.shape(0)), d = static_cast<i64>(X.shape(1));
            const i64 count = static_cast<i64>(products.shape(0)), width = static_cast<i64>(out.shape(1));
            if (static_cast<i64>(out.shape(0)) != n) throw nb::value_error("out must have as many rows as X");
            if (products.shape(1) != 4) throw nb::value_error("products must hold four numbers each");
            const Product* every = reinterpret_cast<const Product*>(products.data());
            i64 made = d;
            for (const Product* p = every; p < every + count; made += p++->length)
                if (p->j < 0 || p->j >= d || p->lower < 0 || p->length < 0 || p->place != made || p->lower > made ||
                    p->length > made - p->lower || p->length > width - made)
                    throw nb::value_error("products lead outside the columns, or to columns that are not made yet");
            if (made != width) throw nb::value_error("out must hold the columns of X and all products");
            nb::gil_scoped_release free;
            monomials(X.data(), n, d, every, count, width, out.data());
        },
        "X"_a.noconvert(), "products"_a.noconvert(), "out"_a.noconvert());
}

template <class T>
static void pairs_of_rows(const Rows& X, Vector<i64> offset, bool squares, Out<i32> column, Out<T> value) {
    need_length(offset, X.d, "offset must hold a number for every column");
    for (i64 j = 0; j < X.d; ++j)
        if (offset.data()[j] < -X.d || offset.data()[j] > std::numeric_limits<i32>::max() - X.d)
            throw nb::value_error("offset leads to columns beyond 32-bit numbers");
    nb::gil_scoped_release free;
    std::visit(
        [&]<class Table>(const Table& table) {
            if constexpr (std::is_same_v<Table, Csr<T, i32>> || std::is_same_v<Table, Csr<T, i64>>) {
                const i64 numbers = stored_pairs(table, squares);
                if (static_cast<i64>(column.shape(0)) != numbers || static_cast<i64>(value.shape(0)) != numbers)
                    throw std::invalid_argument("column and value must hold every number and every product");
                pair_products(table, offset.data(), squares, column.data(), value.data());
            } else
                throw std::invalid_argument("pair_products takes sparse rows, and values of their type");
        },
        X.view);
}

void bind_monomials(nb::module_& m) {
    bind_monomials_of<double>(m);
    bind_monomials_of<float>(m);
    m.def("pair_products", &pairs_of_rows<double>, "X"_a, "offset"_a.noconvert(), "squares"_a, "column"_a.noconvert(),
          "value"_a.noconvert());
    m.def("pair_products", &pairs_of_rows<float>, "X"_a, "offset"_a.noconvert(), "squares"_a, "column"_a.noconvert(),
          "value"_a.noconvert());
}

}  // namespace separatrix
