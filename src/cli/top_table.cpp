#include "cli/top_table.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <utility>

#include <nlohmann/json.hpp>

#include "cli/characters.hpp"
#include "http/characters.hpp"

namespace weir::cli {
namespace {

using nlohmann::json;

struct Column {
  enum : std::size_t { requests, denied, early, error, policy, route, identity, client, key };
};
/// Numbers are aligned at the right.
constexpr std::size_t top_numbers = Column::policy;
constexpr std::string_view gap = "  ";
/// The order if the lines do not fit. Names get the rest of the line in the opposite order.
constexpr std::array<std::size_t, 6> left_out_first{
    Column::client, Column::error, Column::early, Column::route, Column::identity, Column::policy};
constexpr std::array<std::size_t, 3> named_columns{Column::policy, Column::identity, Column::route};
/// A name is not cut to fewer characters than this. As long as the longest name of their columns.
constexpr std::size_t shortest_name = 8;
using Widths = std::array<std::size_t, top_columns>;  ///< in characters; 0: left out

const TopRow top_header{"REQUESTS", "DENIED",   "EARLY",  "+/-", "POLICY",
                        "ROUTE",    "IDENTITY", "CLIENT", "KEY"};

std::string count_in(const json& object, std::string_view name) {
  return std::to_string(object.at(name).get<std::uint64_t>());
}

std::string name_in(const json& object, std::string_view name) {
  auto text = object.at(name).get<std::string>();
  std::replace_if(text.begin(), text.end(), http::is_control, '?');
  return text;
}

/// A key that is not counted for this event has only a bound: `<=4`.
std::string bounded_count_in(const json& one, std::string_view name) {
  const auto count = one.at(name).get<std::uint64_t>();
  const bool is_bound = count > 0 && one.at("error").at(name).get<std::uint64_t>() >= count;
  return (is_bound ? "<=" : "") + std::to_string(count);
}

TopRow row_of(const json& one, const std::string& by) {
  return {bounded_count_in(one, "requests"),
          bounded_count_in(one, "denied"),
          bounded_count_in(one, "early_retries"),
          count_in(one.at("error"), by),
          name_in(one, "policy"),
          name_in(one, "route"),
          name_in(one, "identity"),
          name_in(one, "client"),
          "hash:" + name_in(one, "hash")};
}

/// The number of characters of UTF-8.
std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

Widths widths_of(const std::vector<TopRow>& rows) {
  Widths widths{};
  for (const TopRow& row : rows) {
    for (std::size_t i = 0; i < top_columns; ++i)
      widths[i] = std::max(widths[i], width_of(row[i]));
  }
  return widths;
}

std::size_t length_of_line(const Widths& widths) {
  std::size_t length = 0;
  for (const std::size_t width : widths) {
    if (width > 0) length += (length > 0 ? gap.size() : 0) + width;
  }
  return length;
}

/// Returns widths that fit in the available one, if it has room for the columns that stay.
Widths fitted(const Widths& whole, std::size_t sorted_by, std::size_t available) {
  Widths widths = whole;
  for (const std::size_t name : named_columns)
    widths[name] = std::min(whole[name], shortest_name);
  for (const std::size_t column : left_out_first) {
    if (length_of_line(widths) <= available) break;
    if (column != sorted_by) widths[column] = 0;
  }
  std::size_t rest = available - std::min(available, length_of_line(widths));
  for (const std::size_t name : named_columns) {
    if (widths[name] == 0) continue;
    const std::size_t more = std::min(rest, whole[name] - widths[name]);
    widths[name] += more;
    rest -= more;
  }
  return widths;
}

/// The text with exactly this width; `~` at its end shows that it is cut.
std::string cell_of(const std::string& text, std::size_t width, bool is_number) {
  const std::size_t length = width_of(text);
  if (length > width) return std::string(first_characters(text, width - 1)) + '~';
  const std::string padding(width - length, ' ');
  return is_number ? padding + text : text + padding;
}

}  // namespace

std::optional<TopTable> read_top_table(std::string_view body) try {
  const json answer = json::parse(body);
  const auto by = answer.at("by").get<std::string>();
  const json& total = answer.at("total");
  const auto window = static_cast<std::int64_t>(std::ceil(answer.at("window").get<double>()));
  TopTable table{.summary = "last " + std::to_string(window) +
                            " s, all keys: " + count_in(total, "requests") + " requests, " +
                            count_in(total, "denied") + " denied, " +
                            count_in(total, "early_retries") + " early retries",
                 .rows = {top_header},
                 .sorted_by = by == "early_retries" ? Column::early
                              : by == "denied"      ? Column::denied
                                                    : Column::requests};
  for (const json& one : answer.at("keys"))
    table.rows.push_back(row_of(one, by));
  return table;
} catch (const json::exception&) {
  return std::nullopt;
}

std::vector<std::string> lines_of(const TopTable& table, std::optional<std::size_t> width) {
  Widths widths = widths_of(table.rows);
  if (width) widths = fitted(widths, table.sorted_by, *width);
  std::vector<std::string> lines;
  for (const TopRow& row : table.rows) {
    std::string& line = lines.emplace_back();
    for (std::size_t i = 0; i < top_columns; ++i) {
      if (widths[i] == 0) continue;
      if (!line.empty()) line += gap;
      line += i == Column::key ? row[i] : cell_of(row[i], widths[i], i < top_numbers);
    }
  }
  return lines;
}

}  // namespace weir::cli
