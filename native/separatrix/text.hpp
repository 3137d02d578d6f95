// Numbers out of text: svmlight lines and delimited lines, straight into the arrays of the caller.
//
// A decimal with at most 19 digits and a small exponent is one exact product or quotient of two doubles
// (Clinger 1990); all others go to std::from_chars, which rounds correctly. Digits are read eight at a time
// in one word (Lemire 2021). A chunk of text is cut at line ends into one part a thread; each part knows
// beforehand how many lines and colons it holds, so that all threads write into the same arrays.
#pragma once
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <thread>
#include <vector>

#include "separatrix/rows.hpp"

namespace separatrix {

enum class Fault : int { none, number, index, order, columns, label };

struct Parsed {
    i64 rows = 0, entries = 0;
    i64 least = std::numeric_limits<i64>::max(), most = -1;  // feature numbers
    i64 at = -1;                                             // the byte where a line is at fault
    Fault fault = Fault::none;
};

inline bool is_digit(char c) { return static_cast<unsigned char>(c - '0') < 10; }

inline bool eight_digits(std::uint64_t word) {
    return ((word & 0xF0F0F0F0F0F0F0F0ull) | (((word + 0x0606060606060606ull) & 0xF0F0F0F0F0F0F0F0ull) >> 4)) ==
           0x3333333333333333ull;
}

inline std::uint64_t value_of_eight(std::uint64_t word) {
    word -= 0x3030303030303030ull;
    word = word * 10 + (word >> 8);
    return (((word & 0x000000FF000000FFull) * 0x000F424000000064ull) +
            (((word >> 16) & 0x000000FF000000FFull) * 0x0000271000000001ull)) >>
           32;
}

// Reads digits into `mantissa`; returns how many. More than 19 overflow it: the caller then starts anew.
inline int read_digits(const char*& p, const char* end, std::uint64_t& mantissa) {
    const char* from = p;
    while (end - p >= 8) {
        std::uint64_t word;
        std::memcpy(&word, p, 8);
        if (!eight_digits(word)) break;
        mantissa = mantissa * 100000000ull + value_of_eight(word);
        p += 8;
    }
    while (p < end && is_digit(*p)) mantissa = mantissa * 10 + static_cast<std::uint64_t>(*p++ - '0');
    return static_cast<int>(p - from);
}

// A decimal number at p, which moves behind it. Words (inf, nan), hexadecimals and lone signs are refused.
inline bool read_number(const char*& p, const char* end, double& out) {
    static constexpr double POWERS[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                        1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    const char* begin = p;
    const bool negative = p < end && *p == '-';
    if (p < end && (*p == '-' || *p == '+')) ++p;
    const char* from = p;
    std::uint64_t mantissa = 0;
    int digits = read_digits(p, end, mantissa), shift = 0;
    if (p < end && *p == '.') {
        ++p;
        const int after = read_digits(p, end, mantissa);
        digits += after;
        shift = -after;
    }
    if (digits == 0) return false;
    if (p < end && (*p == 'e' || *p == 'E')) {
        const char* mark = p++;
        const bool down = p < end && *p == '-';
        if (p < end && (*p == '-' || *p == '+')) ++p;
        int power = 0, count = 0;
        while (p < end && is_digit(*p)) {
            if (power < 100000) power = power * 10 + (*p - '0');
            ++p, ++count;
        }
        if (count == 0) {
            p = mark;
            return false;
        }
        shift += down ? -power : power;
    }
    if (digits <= 19 && mantissa <= (1ull << 53) && shift >= -22 && shift <= 22) {
        const double m = static_cast<double>(mantissa);
        const double value = shift < 0 ? m / POWERS[-shift] : m * POWERS[shift];
        out = negative ? -value : value;
        return true;
    }
    double value = 0;
    const auto [stop, error] = std::from_chars(from, p, value);
    if (error == std::errc::result_out_of_range) {
        // from_chars leaves the value alone: beyond the largest double, or below the smallest
        const bool large = shift + digits > 0;
        value = large ? std::numeric_limits<double>::infinity() : 0.0;
        if (large) {
            p = begin;
            return false;
        }
    } else if (error != std::errc() || stop != p) {
        p = begin;
        return false;
    }
    out = negative ? -value : value;
    return true;
}

inline bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f'; }

inline i64 count_byte(const char* p, const char* end, char wanted) {
    i64 many = 0;
    for (; p < end; ++p) many += *p == wanted;
    return many;
}

// Parts of [0, n) that end behind line ends, at most `threads` of them.
inline std::vector<const char*> cut_at_lines(const char* text, i64 n, int threads) {
    std::vector<const char*> cuts{text};
    for (int t = 1; t < threads; ++t) {
        const char* p = text + n / threads * t;
        if (p < cuts.back()) continue;
        const void* found = std::memchr(p, '\n', static_cast<std::size_t>(text + n - p));
        if (!found) break;
        cuts.push_back(static_cast<const char*>(found) + 1);
    }
    cuts.push_back(text + n);
    return cuts;
}

// label [qid:number] index:value ... [# comment]; ends[i] counts the entries of row i alone.
inline Parsed parse_svmlight(const char* p, const char* end, i64* ends, i32* indices, double* values, double* labels) {
    Parsed out;
    i64 k = 0, i = 0;
    const auto fail = [&](const char* where, Fault fault) {
        out.at = where - p;
        out.fault = fault;
        return out;
    };
    const char* q = p;
    while (q < end) {
        while (q < end && (is_blank(*q) || *q == '\n')) ++q;
        if (q == end) break;
        if (*q == '#') {
            while (q < end && *q != '\n') ++q;
            continue;
        }
        const char* start = q;
        double label;
        if (!read_number(q, end, label) || (q < end && !is_blank(*q) && *q != '\n' && *q != '#'))
            return fail(start, Fault::label);
        i64 last = -1;
        const i64 before = k;
        for (;;) {
            while (q < end && is_blank(*q)) ++q;
            if (q == end || *q == '\n') break;
            if (*q == '#') {
                while (q < end && *q != '\n') ++q;
                break;
            }
            if (end - q > 4 && std::memcmp(q, "qid:", 4) == 0) {
                q += 4;
                while (q < end && is_digit(*q)) ++q;
                continue;
            }
            i64 index = 0;
            const char* from = q;
            while (q < end && is_digit(*q) && q - from < 11) index = index * 10 + (*q++ - '0');
            if (q == from || q == end || *q != ':' || index > std::numeric_limits<i32>::max())
                return fail(from, Fault::index);
            if (index <= last) return fail(from, Fault::order);
            ++q;
            if (!read_number(q, end, values[k]) || (q < end && !is_blank(*q) && *q != '\n' && *q != '#'))
                return fail(from, Fault::number);
            if (index < out.least) out.least = index;
            last = index;
            indices[k++] = static_cast<i32>(index);
        }
        if (last > out.most) out.most = last;
        labels[i] = label;
        ends[i++] = k - before;
    }
    out.rows = i;
    out.entries = k;
    return out;
}

// Lines of `columns` numbers; an empty cell is NaN. Column `target` goes to labels, the others to values.
inline Parsed parse_delimited(const char* p, const char* end, char delimiter, i64 columns, i64 target, double* values,
                              double* labels) {
    Parsed out;
    const char* q = p;
    const i64 width = columns - (target >= 0 ? 1 : 0);
    i64 i = 0;
    while (q < end) {
        double* row = values + i * width;
        for (i64 j = 0; j < columns; ++j) {
            double value = std::numeric_limits<double>::quiet_NaN();
            const bool empty = q == end || *q == delimiter || *q == '\n' || *q == '\r';
            if (!empty && !read_number(q, end, value)) {
                out.at = q - p;
                out.fault = Fault::number;
                return out;
            }
            if (j == target)
                labels[i] = value;
            else
                *row++ = value;
            const bool stop = q == end || *q != delimiter;
            if (stop != (j == columns - 1)) {
                out.at = q - p;
                out.fault = Fault::columns;
                return out;
            }
            if (!stop) ++q;
        }
        if (q < end && *q == '\r') ++q;
        if (q < end && *q != '\n') {
            out.at = q - p;
            out.fault = Fault::columns;
            return out;
        }
        ++q;
        ++i;
    }
    out.rows = i;
    return out;
}

// Runs `work(part)` for every part, one thread a part.
template <class Work>
void in_threads(std::size_t parts, Work&& work) {
    std::vector<std::thread> others;
    for (std::size_t t = 1; t < parts; ++t) others.emplace_back([&work, t] { work(t); });
    work(0);
    for (auto& thread : others) thread.join();
}

// The whole chunk: parts side by side, then moved together where comments or qids left room between them.
inline Parsed svmlight_chunk(const char* text, i64 n, i64* ends, i32* indices, double* values, double* labels,
                             int threads) {
    const auto cuts = cut_at_lines(text, n, threads);
    const std::size_t parts = cuts.size() - 1;
    std::vector<i64> first_row(parts + 1, 0), first_entry(parts + 1, 0);
    if (parts > 1) {
        in_threads(parts, [&](std::size_t t) {
            first_row[t + 1] = count_byte(cuts[t], cuts[t + 1], '\n') + 1;
            first_entry[t + 1] = count_byte(cuts[t], cuts[t + 1], ':');
        });
        for (std::size_t t = 0; t < parts; ++t) {
            first_row[t + 1] += first_row[t];
            first_entry[t + 1] += first_entry[t];
        }
    }
    std::vector<Parsed> done(parts);
    in_threads(parts, [&](std::size_t t) {
        done[t] = parse_svmlight(cuts[t], cuts[t + 1], ends + first_row[t], indices + first_entry[t],
                                 values + first_entry[t], labels + first_row[t]);
    });
    Parsed all;
    for (std::size_t t = 0; t < parts; ++t) {
        const Parsed& part = done[t];
        if (part.fault != Fault::none) {
            all.at = part.at + (cuts[t] - text);
            all.fault = part.fault;
            return all;
        }
        if (all.rows != first_row[t]) {
            std::memmove(ends + all.rows, ends + first_row[t], static_cast<std::size_t>(part.rows) * sizeof(i64));
            std::memmove(labels + all.rows, labels + first_row[t],
                         static_cast<std::size_t>(part.rows) * sizeof(double));
        }
        if (all.entries != first_entry[t]) {
            const auto many = static_cast<std::size_t>(part.entries);
            std::memmove(indices + all.entries, indices + first_entry[t], many * sizeof(i32));
            std::memmove(values + all.entries, values + first_entry[t], many * sizeof(double));
        }
        all.rows += part.rows;
        all.entries += part.entries;
        if (part.least < all.least) all.least = part.least;
        if (part.most > all.most) all.most = part.most;
    }
    return all;
}

inline Parsed delimited_chunk(const char* text, i64 n, char delimiter, i64 columns, i64 target, double* values,
                              double* labels, int threads) {
    const auto cuts = cut_at_lines(text, n, threads);
    const std::size_t parts = cuts.size() - 1;
    const i64 width = columns - (target >= 0 ? 1 : 0);
    std::vector<i64> first_row(parts + 1, 0);
    for (std::size_t t = 0; t + 1 < parts; ++t)
        first_row[t + 1] = first_row[t] + count_byte(cuts[t], cuts[t + 1], '\n');
    std::vector<Parsed> done(parts);
    in_threads(parts, [&](std::size_t t) {
        done[t] = parse_delimited(cuts[t], cuts[t + 1], delimiter, columns, target, values + first_row[t] * width,
                                  labels + first_row[t]);
    });
    Parsed all;
    for (std::size_t t = 0; t < parts; ++t) {
        if (done[t].fault != Fault::none) {
            all.at = done[t].at + (cuts[t] - text);
            all.fault = done[t].fault;
            return all;
        }
        all.rows += done[t].rows;
    }
    return all;
}

}  // namespace separatrix
