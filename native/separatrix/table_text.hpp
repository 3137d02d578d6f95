// Rows of a delimited table out of text, by a plan that is decided beforehand: what each column is, how its numbers are
// written, which words stand for a missing value. Nothing is guessed here, and a row is the same wherever the text is
// cut: a record that may go on behind the text is left for the next call.
#pragma once
#include <cstring>
#include <deque>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "separatrix/cells.hpp"

namespace separatrix {

enum class Kind : int { skip, number, text, date };

struct ColumnPlan {
    Kind kind = Kind::skip;
    NumberForm form{'.', 0};
    std::string unit, format;
    bool plain = true;                     // decimal point, no separator, no unit
    std::unordered_set<std::string> none;  // further words for a missing value
};

enum class Broken : int { none, cells, quote, utf8, nul, cell, length };

struct RowFault {
    i64 rows_before, byte;
    Broken why;
    i64 column;      // of a cell; how many cells there are of a row of another length
    Text cell;
};

// A text column of a piece: its different cells and a number for each row, -1 where it is missing.
struct Levels {
    std::vector<Text> texts;
    std::unordered_map<Text, i32> place;
    std::deque<std::string> own;  // cells with doubled quotes

    i32 code(Text cell, bool doubled, const ColumnPlan& plan) {
        if (doubled) {
            std::string once;
            for (std::size_t i = 0; i < cell.size(); ++i) {
                once += cell[i];
                if (cell[i] == '"') ++i;
            }
            if (const auto known = place.find(once); known != place.end()) return known->second;
            cell = own.emplace_back(std::move(once));
        } else if (const auto known = place.find(cell); known != place.end()) {
            return known->second;
        }
        const Text bare = trimmed(cell);
        const i32 code = bare.empty() || plan.none.contains(std::string(bare)) ? -1 : static_cast<i32>(texts.size());
        if (code >= 0) texts.push_back(cell);
        place.emplace(cell, code);
        return code;
    }
};

struct TableRows {
    std::vector<double> values;  // rows of number and date columns
    std::vector<i32> codes;      // rows of text columns
    std::vector<i64> begins, ends;  // bytes of each row, its line end among them
    std::vector<Levels> levels;
    std::vector<RowFault> faults;   // rows left out, or cells called missing (the first of these)
    std::vector<i64> broken;        // how many cells of each column are called missing
    i64 consumed = 0;
};

inline bool valid_utf8(Text text) {
    const auto* p = reinterpret_cast<const unsigned char*>(text.data());
    const auto* end = p + text.size();
    while (p < end) {
        if (*p < 0x80) {
            ++p;
            continue;
        }
        const int more = *p >= 0xF0 ? 3 : *p >= 0xE0 ? 2 : 1;
        if (*p < 0xC2 || *p > 0xF4 || end - p <= more) return false;
        const unsigned char second = p[1];
        if ((*p == 0xE0 && second < 0xA0) || (*p == 0xED && second > 0x9F) || (*p == 0xF0 && second < 0x90) ||
            (*p == 0xF4 && second > 0x8F))
            return false;
        for (int k = 1; k <= more; ++k)
            if ((p[k] & 0xC0) != 0x80) return false;
        p += more + 1;
    }
    return true;
}

class TableText {
  public:
    char delimiter = ',';
    bool quotes = true;        // else they are letters
    bool call_missing = false; // a cell that breaks the plan is missing; else its row is left out
    std::vector<ColumnPlan> columns;
    std::vector<double> none;  // numbers that stand for a missing value
    std::size_t longest_none = 0;

    static constexpr i64 MOST_LINES = 1000, MOST_BYTES = 1 << 20;  // of a row with line ends between quotes
    static constexpr i64 SHOWN = 100;                              // cells called missing of a column and piece
    static constexpr i64 LONGEST = 2'000'000;                      // bytes of a row

    // The rows of a piece; `more` bytes of a line are known to follow, unless it is the `last`.
    TableRows read(Text text, i64 more, bool last) const {
        TableRows out;
        std::size_t numbers = 0, texts = 0;
        for (const ColumnPlan& own : columns) {
            numbers += own.kind == Kind::number || own.kind == Kind::date;
            texts += own.kind == Kind::text;
        }
        out.levels.resize(texts);
        out.broken.resize(columns.size());
        const char *p = text.data(), *end = p + text.size(), *q = p;
        const i64 lines = count_byte(p, end, '\n') + 1;
        out.values.reserve(static_cast<std::size_t>(lines) * numbers);
        out.codes.reserve(static_cast<std::size_t>(lines) * texts);
        out.begins.reserve(static_cast<std::size_t>(lines));
        out.ends.reserve(static_cast<std::size_t>(lines));
        const bool odd = !ascii(text), nul = std::memchr(p, 0, text.size()) != nullptr;
        unsigned decimals = 0;
        while (q < end) {
            const char* next = q;
            if (blank(q, end, next)) {
                q = next;
                continue;
            }
            const i64 rows = static_cast<i64>(out.begins.size());
            RowFault fault{rows, q - p, Broken::none, 0, {}};
            const std::size_t faults = out.faults.size();
            out.values.resize(static_cast<std::size_t>(rows) * numbers + numbers);
            out.codes.resize(static_cast<std::size_t>(rows) * texts + texts);
            bool whole = row(q, end, next, out, rows, numbers, texts, decimals, fault);
            const bool outgrown = whole && too_long(q, next);
            whole &= !outgrown;
            if (!whole && !outgrown && !last && !beyond(q, end, more)) {
                out.values.resize(static_cast<std::size_t>(rows) * numbers);
                out.codes.resize(static_cast<std::size_t>(rows) * texts);
                out.faults.resize(faults, fault);
                break;
            }
            if (!whole) fault.why = Broken::quote;
            const bool whole_row = fault.why == Broken::none || fault.why == Broken::cell;
            const Text own(q, static_cast<std::size_t>(next - q));
            if (whole_row && odd && !valid_utf8(own)) fault.why = Broken::utf8;
            if (whole_row && nul && own.find('\0') != Text::npos) fault.why = Broken::nul;
            if (whole_row && next - q > LONGEST) fault.why = Broken::length;
            if (fault.why == Broken::none) {
                if (out.faults.size() > faults) count(out, faults);
                out.begins.push_back(q - p);
                out.ends.push_back(next - p);
                q = next;
                continue;
            }
            out.values.resize(static_cast<std::size_t>(rows) * numbers);
            out.codes.resize(static_cast<std::size_t>(rows) * texts);
            out.faults.resize(faults, fault);
            if (fault.why == Broken::cells) fault.column = count_cells(q, end);
            out.faults.push_back(fault);
            q = fault.why == Broken::cell || fault.why == Broken::length ? next : line_end(q, end);
        }
        out.consumed = q - p;
        return out;
    }

    // How many bytes are whole rows: the rest may go on behind the text.
    i64 complete(Text text, i64 more) const {
        const char *p = text.data(), *end = p + text.size(), *q = p;
        if (!quotes || !std::memchr(p, '"', text.size())) return static_cast<i64>(text.size());
        while (q < end) {
            const char* stop = line_end(q, end);
            if (std::memchr(q, '"', static_cast<std::size_t>(stop - q))) {
                const char* next = q;
                if (!walk(q, end, next) && !beyond(q, end, more)) break;
                if (next > stop && !too_long(q, next)) stop = next;
            }
            q = stop;
        }
        return q - p;
    }

    // All cells of the rows of a piece as text, quotes removed: for a first look at a file.
    std::vector<std::vector<std::string>> cells(Text text) const {
        std::vector<std::vector<std::string>> out;
        const char *q = text.data(), *end = q + text.size();
        while (q < end) {
            const char* next = q;
            if (blank(q, end, next)) {
                q = next;
                continue;
            }
            auto& row = out.emplace_back();
            const char* at = q;
            bool fine = true, more = true;
            while (fine && more) {
                Text cell;
                bool doubled = false;
                fine = one_cell(at, end, cell, doubled, more);
                std::string own(cell);
                if (doubled)
                    for (std::size_t i = own.find("\"\""); i != std::string::npos; i = own.find("\"\"", i + 1)) own.erase(i, 1);
                row.push_back(std::move(own));
            }
            if (!fine) {  // quotes that do not close: the line by itself, as letters
                row.clear();
                const char* stop = line_end(q, end);
                Text line(q, static_cast<std::size_t>(stop - q));
                line = line.substr(0, line.find_last_not_of("\r\n") + 1);
                for (std::size_t i = 0; i != Text::npos;) {
                    const std::size_t j = delimiter ? line.find(delimiter, i) : Text::npos;
                    row.emplace_back(line.substr(i, j == Text::npos ? j : j - i));
                    i = j == Text::npos ? j : j + 1;
                }
                at = stop;
            }
            q = at;
        }
        return out;
    }

  private:
    // Cells of a row that was taken and are called missing: all are counted, the first of each column are shown.
    static void count(TableRows& out, std::size_t from) {
        std::size_t to = from;
        for (std::size_t k = from; k < out.faults.size(); ++k)
            if (++out.broken[static_cast<std::size_t>(out.faults[k].column)] <= SHOWN) out.faults[to++] = out.faults[k];
        out.faults.resize(to, out.faults.back());
    }

    static bool ascii(Text text) {
        std::uint64_t all = 0;
        const char *p = text.data(), *end = p + text.size();
        for (; end - p >= 8; p += 8) all |= eight_bytes(p);
        for (; p < end; ++p) all |= static_cast<unsigned char>(*p);
        return (all & 0x8080808080808080ull) == 0;
    }

    static const char* line_end(const char* q, const char* end) {
        const void* found = std::memchr(q, '\n', static_cast<std::size_t>(end - q));
        return found ? static_cast<const char*>(found) + 1 : end;
    }

    bool beyond(const char* q, const char* end, i64 more) const {
        return end - q + more > MOST_BYTES || count_byte(q, end, '\n') >= MOST_LINES;
    }

    // A row over so many lines or bytes is not one: its first quote is at fault, wherever the text is cut.
    static bool too_long(const char* q, const char* next) {
        const i64 lines = next - q > 1 ? count_byte(q, next - 1, '\n') : 0;
        return lines >= MOST_LINES || (lines > 0 && next - q > MOST_BYTES);
    }

    // A line without a cell; a table of one column has a missing value there, except at the end of a file.
    bool blank(const char* q, const char* end, const char*& next) const {
        const char* at = q;
        while (at < end && is_blank_byte(*at) && *at != '\n' && *at != delimiter) ++at;
        if (at < end && *at != '\n') return false;
        next = at < end ? at + 1 : end;
        return columns.size() != 1 || at == end;
    }

    // A cell, and behind it the delimiter (`more`) or the line end; false where a quote does not close as it should.
    bool one_cell(const char*& q, const char* end, Text& cell, bool& doubled, bool& more) const {
        const char* from = q;
        if (quotes && q < end && *q == '"') {
            for (++q;; ++q) {
                q = static_cast<const char*>(std::memchr(q, '"', static_cast<std::size_t>(end - q)));
                if (!q) return q = end, false;
                if (q + 1 == end || q[1] != '"') break;
                ++q;
                doubled = true;
                if (q + 1 == end) return q = end, false;
            }
            cell = Text(from + 1, static_cast<std::size_t>(q - from - 1));
            ++q;
            if (q < end && *q == '\r' && (q + 1 == end || q[1] == '\n')) ++q;
            if (q < end && *q != '\n' && (delimiter == 0 || *q != delimiter)) return false;
        } else {
            while (q < end && *q != '\n' && (delimiter == 0 || *q != delimiter)) ++q;
            const char* to = q;
            if (to > from && to[-1] == '\r' && (q == end || *q == '\n')) --to;
            cell = Text(from, static_cast<std::size_t>(to - from));
        }
        more = q < end && *q != '\n';
        if (q < end) ++q;
        return true;
    }

    // To the end of a record; false where a quote is open at the end of the text.
    bool walk(const char* q, const char* end, const char*& next) const {
        bool more = true;
        while (more) {
            Text cell;
            bool doubled = false;
            if (!one_cell(q, end, cell, doubled, more)) return q != end;
        }
        next = q;
        return true;
    }

    i64 count_cells(const char* q, const char* end) const {
        i64 many = 0;
        for (bool more = true; more; ++many) {
            Text cell;
            bool doubled = false;
            if (!one_cell(q, end, cell, doubled, more)) break;
        }
        return many;
    }

    // One row into its place; false where a quote is open at the end of the text.
    bool row(const char* q, const char* end, const char*& next, TableRows& out, i64 rows, std::size_t numbers,
             std::size_t texts, unsigned& decimals, RowFault& fault) const {
        double* value = out.values.data() + static_cast<std::size_t>(rows) * numbers;
        i32* code = out.codes.data() + static_cast<std::size_t>(rows) * texts;
        std::size_t level = 0;
        bool more = true;
        for (std::size_t j = 0; j < columns.size(); ++j) {
            const ColumnPlan& plan = columns[j];
            if (!more) return fault.why = Broken::cells, true;
            if (plan.kind == Kind::number && plan.plain && q < end && *q != '"') {  // the usual case without a second look
                const char* at = q;
                double read = NONE;
                const bool empty = *q == '\n' || *q == '\r' || (delimiter && *q == delimiter);
                if (empty || read_number(at, end, read, decimals)) {
                    const char* stop = at;
                    if (at < end && *at == '\r' && (at + 1 == end || at[1] == '\n')) ++at;
                    if (at == end || *at == '\n' || (delimiter && *at == delimiter && at == stop)) {
                        more = at < end && *at != '\n';
                        q = at < end ? at + 1 : at;
                        *value++ = known(read);
                        continue;
                    }
                }
            }
            Text cell;
            bool doubled = false;
            if (!one_cell(q, end, cell, doubled, more)) {
                if (q == end) return false;
                return fault.why = Broken::quote, true;
            }
            if (plan.kind == Kind::text) {
                *code++ = out.levels[level++].code(cell, doubled, plan);
            } else if (plan.kind != Kind::skip) {
                if (!(plan.kind == Kind::date ? date(plan, cell, *value) : number(plan, cell, *value))) {
                    *value = NONE;
                    const RowFault own{rows, fault.byte, Broken::cell, static_cast<i64>(j), cell};
                    if (!call_missing && fault.why == Broken::none)
                        fault = own;
                    else if (call_missing)
                        out.faults.push_back(own);
                }
                ++value;
            }
        }
        if (more) fault.why = Broken::cells;
        next = q;
        return true;
    }

    double known(double value) const {
        for (double own : none)
            if (value == own) return NONE;
        return value;
    }

    bool number(const ColumnPlan& plan, Text raw, double& out) const {
        const Text cell = trimmed(raw);
        out = NONE;
        if (cell.empty()) return true;
        const char *p = cell.data(), *end = p + cell.size();
        double value = 0;
        if (plan.plain && read_any_number(p, end, value) && p == end) return out = known(value), true;
        if (cell.size() <= longest_none && plan.none.contains(std::string(cell))) return true;
        if (written_number(cell, plan.form, plan.unit, value) || is_infinite(cell, value))
            return out = known(value), true;
        return false;
    }

    bool date(const ColumnPlan& plan, Text raw, double& out) const {
        const Text cell = trimmed(raw);
        out = NONE;
        return cell.empty() || (cell.size() <= longest_none && plan.none.contains(std::string(cell))) ||
               moment(cell, plan.format, out);
    }
};

}  // namespace separatrix
