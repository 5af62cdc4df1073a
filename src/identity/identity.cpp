#include "identity/identity.hpp"

#include <cstddef>
#include <cstdint>

#include <boost/container/small_vector.hpp>

#include "http/characters.hpp"
#include "identity/parameters.hpp"

namespace weir::identity {
namespace {

// Hashed into keys that outlive the process: numbers are never given a second meaning.
enum class Tag : char {
  client_address = 1,
  header = 2,
  query = 3,
  cookie = 4,
  path_parameter = 5,
  path = 6,
  all_of = 7
};

/// What is hashed: tags and parts that carry their length, so that it can be read in one way only.
class Serialisation {
 public:
  void tag(Tag tag) { bytes_.push_back(static_cast<char>(tag)); }
  void count(std::size_t number) {
    for (int shift = 0; shift < 32; shift += 8)
      bytes_.push_back(static_cast<char>(number >> shift));
  }
  void part(std::string_view text) {
    count(text.size());
    bytes_.insert(bytes_.end(), text.begin(), text.end());
  }
  /// A part that is made a character at a time: `put(append)`.
  template <class Put>
  void part_of(Put&& put) {
    const std::size_t start = bytes_.size();
    count(0);
    put([this](char c) { bytes_.push_back(c); });
    const std::size_t size = bytes_.size() - start - 4;
    for (std::size_t i = 0; i < 4; ++i)
      bytes_[start + i] = static_cast<char>(size >> (8 * i));
  }
  std::size_t size() const { return bytes_.size(); }
  void cut_to(std::size_t size) { bytes_.resize(size); }
  std::string_view view() const { return {bytes_.data(), bytes_.size()}; }

 private:
  boost::container::small_vector<char, 256> bytes_;
};

/// Appends what a source finds in the request; false if it finds nothing.
class Reader {
 public:
  Reader(const Evidence& evidence, Serialisation& out) : evidence_(evidence), out_(out) {}

  bool operator()(const FromClientAddress&) {
    const auto& settings = evidence_.client_settings;
    const IpAddress network = evidence_.client.masked(settings.ipv4_prefix, settings.ipv6_prefix);
    out_.tag(Tag::client_address);
    out_.part({reinterpret_cast<const char*>(network.bytes().data()), network.bytes().size()});
    return true;
  }

  bool operator()(const FromHeader& from) {
    const http::FieldView* field = evidence_.request.find(from.name);
    if (field == nullptr || field->value.empty()) return false;
    out_.tag(Tag::header);
    out_.part_of([&](auto append) {
      for (const char c : from.name)
        append(http::to_lower(c));
    });
    out_.part(field->value);
    return true;
  }

  bool operator()(const FromQuery& from) {
    const auto value = query_parameter(evidence_.request.query, from.name);
    if (!value || value->empty()) return false;
    out_.tag(Tag::query);
    out_.part(from.name);
    decoded(*value, PercentDecoder::Plus::is_space);
    return true;
  }

  bool operator()(const FromCookie& from) {
    const auto value = cookie(evidence_.request, from.name);
    if (!value || value->empty()) return false;
    out_.tag(Tag::cookie);
    out_.part(from.name);
    out_.part(*value);
    return true;
  }

  bool operator()(const FromPath& from) {
    if (from.parameter.empty()) {
      out_.tag(Tag::path);
      decoded(evidence_.request.path, PercentDecoder::Plus::is_plus);
      return true;
    }
    for (const PathParameter& parameter : evidence_.path_parameters) {
      if (parameter.name != from.parameter || parameter.value.empty()) continue;
      out_.tag(Tag::path_parameter);
      out_.part(from.parameter);
      decoded(parameter.value, PercentDecoder::Plus::is_plus);
      return true;
    }
    return false;
  }

  bool operator()(const AnyOf& from) {
    const std::size_t before = out_.size();
    for (const Source& source : from.sources) {
      if (read(source)) return true;
      out_.cut_to(before);  // what an all_of had found until something was absent
    }
    return false;
  }

  bool operator()(const AllOf& from) {
    out_.tag(Tag::all_of);
    out_.count(from.sources.size());
    for (const Source& source : from.sources) {
      if (!read(source)) return false;
    }
    return true;
  }

  bool read(const Source& source) { return std::visit(*this, source.from); }

 private:
  /// Decoded, for "%61" and "a" are one name upstream and must not be two clients here.
  void decoded(std::string_view text, PercentDecoder::Plus plus) {
    out_.part_of([&](auto append) {
      for (PercentDecoder decoder{text, plus}; !decoder.at_end();)
        append(decoder.next());
    });
  }

  const Evidence& evidence_;
  Serialisation& out_;
};

}  // namespace

std::optional<Hash128> resolve(const Source& source, const Evidence& evidence, SipKey key) {
  Serialisation serialised;
  if (!Reader{evidence, serialised}.read(source)) return std::nullopt;
  return siphash128(key, serialised.view());
}

}  // namespace weir::identity
