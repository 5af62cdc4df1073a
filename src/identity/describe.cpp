#include "identity/identity.hpp"

namespace weir::identity {
namespace {

struct Describer {
  std::string operator()(const FromClientAddress&) const { return "client_address"; }
  std::string operator()(const FromHeader& from) const { return "header " + from.name; }
  std::string operator()(const FromQuery& from) const { return "query " + from.name; }
  std::string operator()(const FromCookie& from) const { return "cookie " + from.name; }
  std::string operator()(const FromClaim& from) const {
    return "claim " + from.claim + " of " + from.provider;
  }
  std::string operator()(const FromPath& from) const {
    return from.parameter.empty() ? "path" : "path " + from.parameter;
  }
  std::string operator()(const AnyOf& from) const { return "any of " + listed(from.sources); }
  std::string operator()(const AllOf& from) const { return "all of " + listed(from.sources); }

  static std::string listed(const std::vector<Source>& sources) {
    std::string list = "(";
    std::string_view separator;
    for (const Source& source : sources) {
      list.append(separator).append(describe(source));
      separator = ", ";
    }
    return list += ')';
  }
};

const char* reason(Ambiguity::Kind kind, bool in_query) {
  switch (kind) {
    case Ambiguity::Kind::repeated:
    case Ambiguity::Kind::look_alike:
      break;
    case Ambiguity::Kind::separator:
      return in_query ? "has a \";\" before or in it, which some services take for a separator; "
                        "write %3B"
                      : "has a \",\" before or in it, which some services take for a separator; "
                        "write %2C";
    case Ambiguity::Kind::escape:
      return "has a backslash, which some services take for an escape; write %5C";
    case Ambiguity::Kind::crowd:
      return in_query
                 ? "is one of more than 1000 parameters, of which some services read only the first"
                 : "is one of more than 1000 cookies, of which some services read only the first";
    case Ambiguity::Kind::lines:
      return "is in one of several Cookie fields, which services join in different ways; send one "
             "(RFC 6265 section 5.4)";
    case Ambiguity::Kind::malformed:
      return "is in a Cookie field with a part that is not NAME=VALUE, of which some services read "
             "no cookie";
    case Ambiguity::Kind::blank:
      return "has a blank before or in it, which some services take for a separator; write %20";
    case Ambiguity::Kind::quotes:
      return "has a \" before or in it that does not end in the same cookie; write %22";
    case Ambiguity::Kind::encoding:
      return "has credentials that are not canonical Base64 (RFC 4648 section 4)";
    case Ambiguity::Kind::words:
      return "has credentials that services read in different ways; expected a scheme and one word "
             "of ASCII characters, or a scheme and parameters (RFC 9110 section 11.4)";
  }
  return "appears more than once";
}

/// The part of a request that a source reads.
struct Place {
  std::string_view kind;
  std::string_view name;
  bool is_query = false;
};

struct PlaceOf {
  Place operator()(const FromHeader& from) const { return {.kind = "header", .name = from.name}; }
  Place operator()(const FromQuery& from) const {
    return {.kind = "query parameter", .name = from.name, .is_query = true};
  }
  Place operator()(const FromCookie& from) const { return {.kind = "cookie", .name = from.name}; }
  Place operator()(const FromClaim& from) const { return std::visit(*this, from.token); }
  template <class Other>
  Place operator()(const Other&) const {
    return {.kind = "source", .name = {}};
  }
};

}  // namespace

std::string describe(const Source& source) {
  return std::visit(Describer{}, source.from);
}

std::string describe(const Ambiguity& ambiguity) {
  const Place place = std::visit(PlaceOf{}, ambiguity.source->from);
  const std::string kind(place.kind);
  const std::string quoted = '"' + std::string(place.name) + '"';
  if (ambiguity.kind == Ambiguity::Kind::look_alike)
    return "a " + kind + " may be read as " + quoted +
           ", which identifies the client; remove it, or write that name";
  return "the " + kind + " " + quoted + ", which identifies the client, " +
         reason(ambiguity.kind, place.is_query);
}

}  // namespace weir::identity
