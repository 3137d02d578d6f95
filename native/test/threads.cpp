// Passes with helpers on threads of their own beside the same passes alone, for the thread sanitizer (.ci/sanitize).
#include <cstdio>
#include <cstring>
#include <thread>
#include <vector>

#include "separatrix/decide.hpp"
#include "separatrix/dense_perceptron.hpp"
#include "separatrix/look_ahead.hpp"

using namespace separatrix;

namespace {

constexpr i64 n = 6000, d = 20, passes = 5;

struct Table {
    std::vector<double> x;
    std::vector<i8> y;

    explicit Table(u64 state) {
        const auto uniform = [&] { return static_cast<double>(next(state) >> 11) * 0x1p-52 - 1; };
        for (i64 i = 0; i < n; ++i) {
            double s = 0;
            for (i64 j = 0; j < d; ++j) x.push_back(uniform()), s += x.back() / static_cast<double>(j + 1);
            const bool flipped = below(500, state) == 0;
            y.push_back(below(20, state) == 0 ? 0 : (s > 0) != flipped ? 1 : -1);
        }
    }
};

std::vector<double> learned(const Table& table, i64 helpers, i64 limit, i64& passed_over) {
    const Dense<double> X{table.x.data(), n, d};
    std::vector<double> w(d + 1, 0.0);
    const Perceptron p{table.y.data(), nullptr, w.data(), true, true, nullptr};
    const auto run = [&](i64 begin, i64 end, i64 most) { return perceptron_pass(X, p, nullptr, begin, end, most); };
    for (i64 k = 0; k < passes; ++k) {
        if (helpers == 0) {
            run(0, n, limit);
            continue;
        }
        Lookahead ahead(helpers, 100, 7);
        std::vector<std::thread> threads;
        for (i64 h = 0; h < helpers; ++h) threads.emplace_back([&ahead, h] { ahead.help(h); });
        pass_ahead(ahead, X, p.y, nullptr, p.w, 0.0, 0, n, limit, run, [](i64, i64) {});
        for (std::thread& thread : threads) thread.join();
        passed_over += ahead.passed_over;
    }
    return w;
}

// The hyperplane that is found between separable rows, with the blocks of a scan on `helpers` threads; 0: on this one.
Decision decided(i64 helpers, i64& shared) {
    constexpr i64 rows = 120000;
    u64 state = 7;
    std::vector<double> x;
    std::vector<i8> y;
    for (i64 i = 0; i < rows; ++i) {
        double s = 0;
        for (i64 j = 0; j < d; ++j) x.push_back(static_cast<double>(next(state) >> 11) * 0x1p-52 - 1), s += x.back();
        y.push_back(s > 0 ? 1 : -1);
    }
    const Dense<double> X{x.data(), rows, d};
    Question ask{};
    ask.y = y.data(), ask.intercept = true;
    if (helpers > 0)
        ask.side_by_side = [&](i64 count, const std::function<void(i64)>& work) {
            std::atomic<i64> taken{0};
            std::vector<std::thread> threads;
            for (i64 h = 0; h < helpers; ++h)
                threads.emplace_back([&] { for (i64 k; (k = taken++) < count;) work(k); });
            for (std::thread& thread : threads) thread.join();
            shared += count;
        };
    return Decider(X, ask).run();
}

}  // namespace

int main() {
    i64 passed_over = 0;
    for (u64 seed = 1; seed <= 20; ++seed) {
        const Table table(seed);
        for (const i64 limit : {i64{15}, n})
            for (i64 helpers = 1; helpers <= 4; ++helpers) {
                const std::vector<double> alone = learned(table, 0, limit, passed_over);
                const std::vector<double> helped = learned(table, helpers, limit, passed_over);
                if (std::memcmp(alone.data(), helped.data(), alone.size() * sizeof(double)) != 0) {
                    std::printf("other weights with %lld helpers\n", static_cast<long long>(helpers));
                    return 1;
                }
            }
    }
    i64 shared = 0;
    const Decision alone = decided(0, shared);
    for (i64 helpers = 1; helpers <= 4; ++helpers)
        if (const Decision found = decided(helpers, shared); found.w != alone.w || found.scanned != alone.scanned) {
            std::printf("another hyperplane with %lld helpers\n", static_cast<long long>(helpers));
            return 1;
        }
    std::printf("the same weights; %lld rows passed over, %lld parts of scans shared\n", static_cast<long long>(passed_over),
                static_cast<long long>(shared));
    return passed_over == 0 || shared == 0;
}
