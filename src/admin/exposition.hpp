// The Prometheus text format, version 0.0.4: families of samples, escaped where the format needs
// it.
//
// Times are whole microseconds and are written exactly, as decimal seconds.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include "base/counters.hpp"
#include "base/time.hpp"

namespace weir::admin {

struct Label {
  std::string_view name;
  std::string_view value;
};
using Labels = std::initializer_list<Label>;

class Exposition {
 public:
  /// Starts a metric: its HELP and TYPE lines. All its samples follow before the next family.
  void family(std::string_view name, std::string_view type, std::string_view help);
  void sample(Labels labels, std::uint64_t value);
  void sample(Labels labels, std::int64_t value);
  /// In seconds.
  void sample(Labels labels, Duration value);
  /// Writes cumulative buckets (the last bound is `+Inf`), their sum and their count.
  void histogram(Labels labels, const HistogramSum& histogram);

  const std::string& text() const { return out_; }

 private:
  void start(std::string_view suffix, Labels labels, std::string_view bound);
  template <class Number>
  void line(std::string_view suffix, Labels labels, std::string_view bound, Number value);

  std::string name_;
  std::string out_;
};

/// Exact decimal seconds without trailing zeros: 2500 us are `0.0025`.
std::string seconds_text(Duration duration);

}  // namespace weir::admin
