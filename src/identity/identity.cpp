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
    const auto length = static_cast<std::uint32_t>(number);
    const char bytes[] = {static_cast<char>(length), static_cast<char>(length >> 8),
                          static_cast<char>(length >> 16), static_cast<char>(length >> 24)};
    append({bytes, sizeof bytes});
  }
  void part(std::string_view text) {
    count(text.size());
    append(text);
  }
  void part_in_lower_case(std::string_view text) {
    part(text);
    std::transform(bytes_.end() - static_cast<std::ptrdiff_t>(text.size()), bytes_.end(),
                   bytes_.end() - static_cast<std::ptrdiff_t>(text.size()), http::to_lower);
  }
  void part_decoded(std::string_view text) {
    std::size_t size = 0;
    for (PercentDecoder decoder{text}; !decoder.at_end(); decoder.next())
      ++size;
    count(size);
    for (PercentDecoder decoder{text}; !decoder.at_end();)
      bytes_.push_back(decoder.next());
  }
  std::size_t size() const { return bytes_.size(); }
  void cut_to(std::size_t size) { bytes_.resize(size); }
  std::string_view view() const { return {bytes_.data(), bytes_.size()}; }

 private:
  void append(std::string_view text) { bytes_.insert(bytes_.end(), text.begin(), text.end()); }

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
    out_.part_in_lower_case(from.name);
    out_.part(field->value);
    return true;
  }

  bool operator()(const FromQuery& from) {
    const auto value = query_parameter(evidence_.request.query, from.name);
    if (!value || value->empty()) return false;
    out_.tag(Tag::query);
    out_.part(from.name);
    decoded(*value);
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
      out_.part(evidence_.path);
      return true;
    }
    for (const PathParameter& parameter : evidence_.path_parameters) {
      if (parameter.name != from.parameter || parameter.value.empty()) continue;
      out_.tag(Tag::path_parameter);
      out_.part(from.parameter);
      out_.part(parameter.value);
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
  /// Decoded, because "%61" and "a" are one name upstream and must not be two clients here.
  void decoded(std::string_view text) {
    if (text.find_first_of("%+") == std::string_view::npos) {
      out_.part(text);
    } else {
      out_.part_decoded(text);
    }
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
