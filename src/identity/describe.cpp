#include "identity/identity.hpp"

namespace weir::identity {
namespace {

struct Describer {
  std::string operator()(const FromClientAddress&) const { return "client_address"; }
  std::string operator()(const FromHeader& from) const { return "header " + from.name; }
  std::string operator()(const FromQuery& from) const { return "query " + from.name; }
  std::string operator()(const FromCookie& from) const { return "cookie " + from.name; }
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

}  // namespace

std::string describe(const Source& source) {
  return std::visit(Describer{}, source.from);
}

std::string describe(const Ambiguity& ambiguity) {
  const auto* const query = std::get_if<FromQuery>(&ambiguity.source->from);
  const std::string kind = query != nullptr ? "query parameter" : "cookie";
  const std::string quoted =
      '"' + (query != nullptr ? query->name : std::get<FromCookie>(ambiguity.source->from).name) +
      '"';
  switch (ambiguity.kind) {
    case Ambiguity::Kind::repeated:
      break;
    case Ambiguity::Kind::look_alike:
      return "a " + kind + " may be read as " + quoted +
             ", which identifies the client; remove it, or write that name";
    case Ambiguity::Kind::separator:
      return "the " + kind + " " + quoted + ", which identifies the client, has a " +
             (query != nullptr ? "\";\"" : "\",\"") +
             " before or in it, which some services take for a separator; write " +
             (query != nullptr ? "%3B" : "%2C");
    case Ambiguity::Kind::escape:
      return "the " + kind + " " + quoted +
             ", which identifies the client, has a backslash, which some services take for an "
             "escape; write %5C";
  }
  return "the " + kind + " " + quoted + ", which identifies the client, appears more than once";
}

}  // namespace weir::identity
