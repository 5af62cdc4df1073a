#include "base/prefix_table.hpp"

#include <algorithm>

namespace weir {
namespace {

constexpr int ipv4_bits = 96;  // of ::ffff:0:0/96, where IPv4 addresses are

std::uint64_t number_at(const IpAddress& address, std::size_t from) {
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < 8; ++i)
    number = number << 8 | address.bytes()[from + i];
  return number;
}

}  // namespace

/// Divides the addresses into ranges while it passes over the prefixes in ascending order.
struct PrefixTable::Builder {
  struct Span {
    Number first;
    Number last;
    std::uint8_t bits;
  };

  PrefixTable& table;
  std::vector<Span> open{};  ///< contain the present address, the innermost last

  static Span span_of(const IpPrefix& prefix, std::uint8_t bits) {
    const Number first = number_of(prefix.network());
    Number last = first;
    if (const int fixed = prefix.bits(); fixed < 128) last |= ~Number{0} >> fixed;
    return {.first = first, .last = last, .bits = bits};
  }

  /// Starts a range. One that starts at the same address is empty and gets replaced.
  void start(Number at, std::uint8_t bits) {
    if (!table.starts_.empty() && table.starts_.back() == at) {
      table.bits_.back() = bits;
      return;
    }
    table.starts_.push_back(at);
    table.bits_.push_back(bits);
  }

  /// Ends the innermost span: the range after it belongs to the span around it.
  void close() {
    const Number next = open.back().last + 1;
    open.pop_back();
    if (next == 0) return;  // there is no address after it
    start(next, open.empty() ? none : open.back().bits);
  }

  void add(const Span& span) {
    while (!open.empty() && open.back().last < span.first)
      close();
    start(span.first, span.bits);
    open.push_back(span);
  }

  void finish() {
    while (!open.empty())
      close();
  }
};

PrefixTable::PrefixTable(std::vector<IpPrefix> prefixes) {
  std::vector<Builder::Span> spans;
  spans.reserve(prefixes.size() + 1);
  // An IPv6 prefix around the IPv4 addresses does not contain them.
  spans.push_back(Builder::span_of(IpPrefix::around(IpAddress::v4({}), ipv4_bits), none));
  for (const IpPrefix& prefix : prefixes)
    spans.push_back(Builder::span_of(prefix, static_cast<std::uint8_t>(prefix.bits())));
  // Outer spans first; of equal ones that of all of IPv4 without a prefix.
  std::stable_sort(spans.begin(), spans.end(), [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first < b.first : b.last < a.last;
  });
  Builder builder{.table = *this};
  builder.start({}, none);
  const Builder::Span* before = nullptr;
  for (const Builder::Span& span : spans) {
    const bool is_same = before != nullptr && before->first == span.first &&
                         before->last == span.last && before->bits == span.bits;
    before = &span;
    if (is_same) continue;
    if (span.bits != none) ++size_;
    builder.add(span);
  }
  builder.finish();
  starts_.shrink_to_fit();
  bits_.shrink_to_fit();
}

PrefixTable::Number PrefixTable::number_of(const IpAddress& address) {
  return Number{number_at(address, 0)} << 64 | number_at(address, 8);
}

std::uint8_t PrefixTable::bits_at(const IpAddress& address) const {
  if (starts_.empty()) return none;
  const Number wanted = number_of(address);
  // The first range starts at ::, so one of the ranges contains the address. Divides by four,
  // because three comparisons that do not wait for each other take little more than one.
  const Number* at = starts_.data();
  std::size_t left = starts_.size();
  while (left >= 4) {
    const std::size_t quarter = left / 4;
    const auto passed = static_cast<std::size_t>(at[quarter] <= wanted) +
                        static_cast<std::size_t>(at[2 * quarter] <= wanted) +
                        static_cast<std::size_t>(at[3 * quarter] <= wanted);
    at += passed * quarter;
    left -= 3 * quarter;
  }
  for (; left > 1 && at[1] <= wanted; --left)
    ++at;
  return bits_[static_cast<std::size_t>(at - starts_.data())];
}

std::optional<IpPrefix> PrefixTable::find(const IpAddress& address) const {
  const std::uint8_t bits = bits_at(address);
  if (bits == none) return std::nullopt;
  return IpPrefix::around(address, bits);
}

}  // namespace weir
