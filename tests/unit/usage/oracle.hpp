// The same answer from a real JSON parser over a whole body: nlohmann/json builds the tree and
// finds the pointers. Shares no code with the scanner. Only for documents that are well-formed, and
// for events that are well-formed or no JSON at all.
#pragma once

#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

namespace weir::usage::oracle {

using nlohmann::json;

inline std::optional<std::int64_t> count_of(const json& value) {
  constexpr std::int64_t largest = 9'007'199'254'740'991;
  if (value.is_number_unsigned())
    return static_cast<std::int64_t>(
        std::min(value.get<std::uint64_t>(), static_cast<std::uint64_t>(largest)));
  if (value.is_number_integer()) {
    if (value.get<std::int64_t>() < 0) return std::nullopt;
    return std::min(value.get<std::int64_t>(), largest);
  }
  if (!value.is_number_float()) return std::nullopt;
  const auto number = value.get<double>();
  if (number < 0 || std::floor(number) != number) return std::nullopt;
  return number >= static_cast<double>(largest) ? largest : static_cast<std::int64_t>(number);
}

/// Counts by pointer, over documents in order.
class Counts {
 public:
  explicit Counts(std::vector<std::string> pointers) : pointers_(std::move(pointers)) {}

  void read(const std::string& text) {
    const json document = json::parse(text, nullptr, false);
    if (document.is_discarded()) return;
    for (const std::string& text_of_pointer : pointers_) {
      const bool is_index = has_index_first(text_of_pointer);
      if (document.is_array() && !is_index) {
        for (const json& element : document)
          read(text_of_pointer, element);
      } else {
        read(text_of_pointer, document);
      }
    }
  }

  std::optional<std::int64_t> sum(const std::vector<std::string>& pointers) const {
    std::int64_t sum = 0;
    for (const std::string& pointer : pointers) {
      const auto at = counts_.find(pointer);
      if (at == counts_.end()) return std::nullopt;
      sum = std::min<std::int64_t>(sum + at->second, 9'007'199'254'740'991);
    }
    return sum;
  }

 private:
  static bool has_index_first(const std::string& pointer) {
    const std::string first = pointer.substr(1, pointer.find('/', 1) - 1);
    return !first.empty() && first.find_first_not_of("0123456789") == std::string::npos &&
           (first == "0" || first[0] != '0');
  }

  void read(const std::string& text, const json& document) {
    try {
      const auto count = count_of(document.at(json::json_pointer(text)));
      if (count) counts_[text] = *count;
    } catch (const json::exception&) {
      return;  // nothing there
    }
  }

  std::vector<std::string> pointers_;
  std::map<std::string, std::int64_t> counts_;
};

/// Lines of a text, which end in LF, CR or CRLF.
inline std::vector<std::string> lines_of(std::string_view body) {
  std::vector<std::string> lines(1);
  for (std::size_t i = 0; i < body.size(); ++i) {
    if (body[i] != '\r' && body[i] != '\n') {
      lines.back() += body[i];
      continue;
    }
    if (body[i] == '\r' && i + 1 < body.size() && body[i + 1] == '\n') ++i;
    lines.emplace_back();
  }
  return lines;
}

/// Returns the data of each event by WHATWG HTML section 9.2.6. The last event needs no blank line.
inline std::vector<std::string> events_of(std::string_view body) {
  std::vector<std::string> events;
  std::string data;
  auto lines = lines_of(body);
  lines.emplace_back();
  for (const std::string& line : lines) {
    if (line.empty()) {
      if (!data.empty()) events.push_back(data);
      data.clear();
      continue;
    }
    const std::size_t colon = std::min(line.find(':'), line.size());
    if (line.substr(0, colon) != "data") continue;
    std::string value = line.substr(std::min(colon + 1, line.size()));
    if (value.starts_with(' ')) value.erase(0, 1);
    data += value + "\n";
  }
  return events;
}

}  // namespace weir::usage::oracle
