// Prints a hash of what the mistake-driven learners learn from generated rows, and of numbers read from text: the
// same lines on every processor and with every compiler (.ci/compilers compares them).
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "separatrix/dense_perceptron.hpp"
#include "separatrix/pocket.hpp"
#include "separatrix/short_online.hpp"
#include "separatrix/text.hpp"
#include "separatrix/voted.hpp"

using namespace separatrix;

namespace {

u64 hash(const void* data, std::size_t bytes, u64 h = 0xcbf29ce484222325u) {  // FNV-1a
    const auto* p = static_cast<const unsigned char*>(data);
    for (std::size_t k = 0; k < bytes; ++k) h = (h ^ p[k]) * 0x100000001b3u;
    return h;
}

void print(const std::string& what, const char* rows, i64 d, u64 h) {
    std::printf("%-24s %-8s %3lld %016llx\n", what.c_str(), rows, static_cast<long long>(d), static_cast<unsigned long long>(h));
}

using Numbers = std::vector<double>;

u64 hash(const Numbers& w, u64 h = 0xcbf29ce484222325u) { return hash(w.data(), w.size() * sizeof(double), h); }

constexpr i64 n = 500, classes = 3, passes = 4;

// Rows with a third of zeros, whose products round, and labels that a hyperplane gives to most of them.
struct Table {
    i64 d;
    std::vector<double> x;
    std::vector<float> narrow;
    std::vector<double> value;
    std::vector<i32> column, start{0};
    std::vector<i8> sign;
    std::vector<i32> code;
    std::vector<i64> order;
    std::vector<double> step;

    explicit Table(i64 d) : d(d) {
        u64 state = 20 + static_cast<u64>(d);
        const auto uniform = [&] { return static_cast<double>(next(state) >> 11) * 0x1p-52 - 1; };
        for (i64 i = 0; i < n; ++i) {
            double s = 0.1 * uniform();
            for (i64 j = 0; j < d; ++j) {
                const float a = below(3, state) ? static_cast<float>(uniform()) : 0.0f;
                x.push_back(a), narrow.push_back(a);
                if (a != 0) value.push_back(a), column.push_back(static_cast<i32>(j));
                s += (j % 2 ? a : -a) / static_cast<double>(j + 1);
            }
            start.push_back(static_cast<i32>(value.size()));
            sign.push_back(below(20, state) == 0 ? 0 : (s > 0) == (below(10, state) > 0) ? 1 : -1);
            code.push_back(static_cast<i32>(below(classes, state)));
            order.push_back(i), step.push_back(0.1 + static_cast<double>(below(10, state)) / 10);
        }
        shuffle(order.data(), n, state);
    }

    template <class Do>
    void each_layout(Do&& run) const {
        run(Dense<double>{x.data(), n, d}, "float64");
        run(Dense<float>{narrow.data(), n, d}, "float32");
        run(Csr<double, i32>{value.data(), column.data(), start.data(), n, d}, "sparse");
    }
};

template <class Rows>
u64 perceptrons(const Rows& X, const Table& t) {
    Numbers w(static_cast<std::size_t>(t.d) + 1), pocket(w.size()), kept(8 * w.size());
    std::vector<i8> habit(n);
    const Perceptron p{t.sign.data(), t.step.data(), w.data(), true, true, nullptr, habit.data()};
    for (i64 pass = 0; pass < passes; ++pass) {
        perceptron_pass(X, p, nullptr, 0, n, n);
        perceptron_pass(X, p, t.order.data(), 0, n, n);
    }
    const u64 plain = hash(w);
    double error = 1e9;
    i64 counts[5] = {}, votes[8] = {}, born[8] = {}, account[4] = {};
    const Pocket q{pocket.data(), &error, nullptr, counts, counts + 1, counts + 2, counts + 3, counts + 4, 1.0};
    pocket_pass(X, p, q, t.order.data(), 0, n, n);
    const Voters v{kept.data(), votes, born, 8, account, account + 1, account + 2, account + 3};
    voted_pass(X, p, v, nullptr, 0, n, n);
    return hash(kept, hash(pocket, hash(votes, sizeof votes, plain)));
}

template <class Rule, class Rows>
u64 both_passes(const Rows& X, const Table& t, Rule& rule, const Numbers& w, const Numbers& more) {
    std::vector<i8> habit(n), seen(classes);
    for (i64 pass = 0; pass < passes; ++pass) {
        binary_pass(X, rule, 0, t.sign.data(), t.step.data(), nullptr, 0, n, n, habit.data());
        binary_pass(X, rule, 1, t.sign.data(), nullptr, t.order.data(), 0, n, n, nullptr);
        kesler_pass(X, rule, seen.data(), t.code.data(), t.step.data(), t.order.data(), 0, n, n);
    }
    return hash(more, hash(w));
}

template <class Rows>
void learn(const Rows& X, const Table& t, const char* layout) {
    const std::size_t width = static_cast<std::size_t>(t.d) + 1;
    const auto rule = [&](const char* name, std::size_t extra, double diagonal, auto make) {
        Numbers w(classes * width), more(extra);
        const bool full = extra == classes * width * width;
        for (std::size_t k = 0; k < extra; ++k) more[k] = !full || k % (width * width) % (width + 1) == 0 ? diagonal : 0.0;
        std::vector<i64> counts(classes);
        auto made = make(Vectors{w.data(), classes, t.d, true}, more.data(), counts.data());
        print(name, layout, t.d, both_passes(X, t, made, w, more));
    };
    print("perceptron pocket voted", layout, t.d, perceptrons(X, t));
    rule("plain", 0, 0, [](Vectors v, double*, i64*) { return PlainRule{v, true}; });
    rule("averaged", classes * width, 0, [](Vectors v, double* u, i64* c) { return AveragedRule{v, true, u, c}; });
    rule("margin", classes, 0, [](Vectors v, double* u, i64* c) { return MarginRule{v, true, 0.1, true, u, c}; });
    for (int variant = 0; variant < 3; ++variant)
        rule(variant == 0 ? "passive-aggressive" : variant == 1 ? "passive-aggressive I" : "passive-aggressive II", 0, 0,
             [=](Vectors v, double*, i64*) { return PassiveAggressiveRule{v, true, variant, 0.7}; });
    rule("arow diagonal", classes * width, 1, [](Vectors v, double* u, i64*) { return ArowDiagonalRule{v, true, 0.3, u, {}}; });
    rule("arow full", classes * width * width, 1, [](Vectors v, double* u, i64*) { return ArowFullRule{v, true, 0.3, u, {}}; });
}

void read_text() {
    std::string lines;
    u64 state = 1;
    for (int k = 0; k < 2000; ++k) {  // short and long decimals, exponents, numbers near the ends of the range
        const auto number = [&] { return std::to_string(next(state) >> (next(state) % 64)); };
        lines.append(next(state) % 2 ? "-" : "").append(number()).append(".").append(number());
        if (next(state) % 2) lines.append("e").append(std::to_string(static_cast<int>(next(state) % 640) - 345));
        lines += "\n";
    }
    lines += "4.9e-324\n2.4703282292062327e-324\n2.4703282292062328e-324\n1e-400\n1.7976931348623157e308\n";
    Numbers values(3000), labels(1);
    const Parsed out = parse_delimited(lines.data(), static_cast<i64>(lines.size()), ',', 1, -1, 3000, values.data(), labels.data());
    print("text", "decimals", out.rows, hash(values, static_cast<u64>(out.at)));
}

}  // namespace

int main() {
    for (i64 d : {1, 5, 8, 13, 16, 40, 100}) {
        const Table t(d);
        t.each_layout([&](const auto& X, const char* layout) { learn(X, t, layout); });
    }
    read_text();
    return 0;
}
