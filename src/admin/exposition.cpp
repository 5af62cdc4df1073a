#include "admin/exposition.hpp"

#include "base/appender.hpp"

namespace weir::admin {
namespace {

void append_label(std::string& out, std::string_view name, std::string_view value) {
  out += out.back() == '{' ? "" : ",";
  out.append(name) += "=\"";
  for (const char c : value) {
    if (c == '\n') {
      out += "\\n";
      continue;
    }
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  out += '"';
}

}  // namespace

void Exposition::family(std::string_view name, std::string_view type, std::string_view help) {
  name_ = name;
  out_.append("# HELP ").append(name).append(" ").append(help);
  out_.append("\n# TYPE ").append(name).append(" ").append(type).append("\n");
}

void Exposition::start(std::string_view suffix, Labels labels, std::string_view bound) {
  out_.append(name_).append(suffix);
  if (labels.size() > 0 || !bound.empty()) {
    out_ += '{';
    for (const auto& [name, value] : labels)
      append_label(out_, name, value);
    if (!bound.empty()) append_label(out_, "le", bound);
    out_ += '}';
  }
  out_ += ' ';
}

template <class Number>
void Exposition::line(std::string_view suffix, Labels labels, std::string_view bound,
                      Number value) {
  start(suffix, labels, bound);
  append_number(out_, value);
  out_ += '\n';
}

void Exposition::sample(Labels labels, std::uint64_t value) {
  line({}, labels, {}, value);
}

void Exposition::sample(Labels labels, std::int64_t value) {
  line({}, labels, {}, value);
}

void Exposition::sample(Labels labels, Duration value) {
  start({}, labels, {});
  out_.append(telemetry::seconds_text(value)) += '\n';
}

void Exposition::histogram(Labels labels, const HistogramSum& histogram) {
  std::uint64_t below = 0;
  for (std::size_t i = 0; i < DurationHistogram::bounds_us.size(); ++i) {
    below += histogram.buckets[i];
    line("_bucket", labels, telemetry::seconds_text(Duration{DurationHistogram::bounds_us[i]}),
         below);
  }
  below += histogram.buckets.back();
  line("_bucket", labels, "+Inf", below);
  start("_sum", labels, {});
  out_.append(telemetry::seconds_text(Duration{static_cast<std::int64_t>(histogram.sum_us)})) +=
      '\n';
  line("_count", labels, {}, below);
}

}  // namespace weir::admin
