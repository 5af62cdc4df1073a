// Writes attributes and times in the JSON encoding of OTLP: lists of KeyValue, 64-bit integers as
// strings, instants as nanoseconds since the epoch.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/appender.hpp"
#include "base/time.hpp"
#include "json/write.hpp"

namespace weir::telemetry {

/// Appends a 64-bit number, which proto3 JSON has as a string.
template <class Number>
void append_quoted(Appender& out, Number number) {
  out.add('"').number(number).add('"');
}

/// Appends a fixed64 instant.
inline void append_nanoseconds(Appender& out, Instant at) {
  out.add('"').number(to_us(at)).add("000\"");
}

/// A list of KeyValue messages, from its construction to end(). Keys are constants of the program,
/// which need no escapes. Empty texts and absent numbers are left out.
class Attributes {
 public:
  explicit Attributes(Appender& out) : out_(out) { out_.add('['); }

  Attributes& text(std::string_view key, std::string_view value) {
    if (value.empty()) return *this;
    begin(key, R"(","value":{"stringValue":")");
    json::append_escaped(out_, value);
    out_.add("\"}}");
    return *this;
  }
  Attributes& number(std::string_view key, std::optional<std::int64_t> value) {
    if (!value) return *this;
    begin(key, R"(","value":{"intValue":")");
    out_.number(*value).add("\"}}");
    return *this;
  }
  /// A text with a key of the configuration.
  Attributes& configured(std::string_view key, std::string_view value) {
    std::string escaped;
    {
      Appender end(escaped);
      json::append_escaped(end, key);
    }
    return text(escaped, value);
  }
  void end() { out_.add(']'); }

 private:
  void begin(std::string_view key, std::string_view of_value) {
    out_.add_all(separator_, key, of_value);
    separator_ = R"(,{"key":")";
  }

  Appender& out_;
  std::string_view separator_ = R"({"key":")";
};

}  // namespace weir::telemetry
