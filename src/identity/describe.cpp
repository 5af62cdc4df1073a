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

}  // namespace weir::identity
