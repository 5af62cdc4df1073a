#include "cli/top_table.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <utility>

#include <nlohmann/json.hpp>

#include "http/characters.hpp"

namespace weir::cli {
namespace {

using nlohmann::json;

constexpr std::size_t top_columns = 9;
/// Numbers are aligned at the right.
constexpr std::size_t top_numbers = 4;
using TopRow = std::array<std::string, top_columns>;

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
std::string bounded_count_in(const json& key, std::string_view name) {
  const auto count = key.at(name).get<std::uint64_t>();
  const bool is_bound = count > 0 && key.at("error").at(name).get<std::uint64_t>() >= count;
  return (is_bound ? "<=" : "") + std::to_string(count);
}

TopRow row_of(const json& key, const std::string& by) {
  return {bounded_count_in(key, "requests"),
          bounded_count_in(key, "denied"),
          bounded_count_in(key, "early_retries"),
          count_in(key.at("error"), by),
          name_in(key, "policy"),
          name_in(key, "route"),
          name_in(key, "identity"),
          name_in(key, "client"),
          "hash:" + name_in(key, "hash")};
}

/// The number of characters of UTF-8.
std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

std::vector<std::string> aligned(const std::vector<TopRow>& rows) {
  std::array<std::size_t, top_columns> widths{};
  for (const TopRow& row : rows) {
    for (std::size_t i = 0; i < top_columns; ++i)
      widths[i] = std::max(widths[i], width_of(row[i]));
  }
  std::vector<std::string> lines;
  for (const TopRow& row : rows) {
    std::string& line = lines.emplace_back();
    for (std::size_t i = 0; i < top_columns; ++i) {
      const std::string padding(widths[i] - width_of(row[i]), ' ');
      if (i > 0) line += "  ";
      line += i < top_numbers ? padding + row[i] : row[i];
      if (i >= top_numbers && i + 1 < top_columns) line += padding;
    }
  }
  return lines;
}

}  // namespace

std::optional<TopTable> read_top_table(std::string_view body) try {
  const json answer = json::parse(body);
  const auto by = answer.at("by").get<std::string>();
  const json& total = answer.at("total");
  const auto window = static_cast<std::int64_t>(std::ceil(answer.at("window").get<double>()));
  TopTable table{.summary = "last " + std::to_string(window) +
                            " s: " + count_in(total, "requests") + " requests, " +
                            count_in(total, "denied") + " denied, " +
                            count_in(total, "early_retries") + " early retries",
                 .rows = {}};
  std::vector<TopRow> rows{top_header};
  for (const json& key : answer.at("keys"))
    rows.push_back(row_of(key, by));
  table.rows = aligned(rows);
  return table;
} catch (const json::exception&) {
  return std::nullopt;
}

}  // namespace weir::cli
