#include "config/expand.hpp"

#include <algorithm>

#include "config/suggest.hpp"

namespace weir::config {

namespace {

bool starts_name(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_';
}
bool continues_name(char c) {
  return starts_name(c) || (c >= '0' && c <= '9');
}

struct VariableReference {
  std::string name;
  std::optional<std::string_view> fallback;
};

/// `inside` is the text between the braces.
Result<VariableReference> parse_reference(std::string_view inside) {
  const auto* end = std::find_if_not(inside.begin(), inside.end(), continues_name);
  const auto length = static_cast<std::size_t>(end - inside.begin());
  const std::string_view rest = inside.substr(length);
  const bool well_formed =
      length > 0 && starts_name(inside.front()) && (rest.empty() || rest.starts_with(":-"));
  if (!well_formed) {
    return Problem{
        "malformed variable reference; write ${NAME} or ${NAME:-default} ($${ for a literal ${)"};
  }
  VariableReference reference{.name = std::string(inside.substr(0, length)), .fallback = {}};
  if (!rest.empty()) reference.fallback = rest.substr(2);
  if (reference.fallback && reference.fallback->find("${") != std::string_view::npos) {
    return Problem{"the default of variable " + in_quotes(reference.name) +
                   " cannot contain another variable"};
  }
  return reference;
}

Result<std::string> value_of(const VariableReference& reference, const Variables& variables) {
  std::optional<std::string> value = variables ? variables(reference.name) : std::nullopt;
  if (reference.fallback && (!value || value->empty()))
    return {boost::system::in_place_value, std::string(*reference.fallback)};
  if (!value) {
    return Problem{"environment variable " + in_quotes(reference.name) +
                   " is not set; set it or write ${" + reference.name + ":-default}"};
  }
  return {boost::system::in_place_value, *std::move(value)};
}

}  // namespace

Result<std::string> expand_variables(std::string_view text, const Variables& variables) {
  std::string out;
  while (!text.empty()) {
    const std::size_t dollar = text.find('$');
    out += text.substr(0, dollar);
    if (dollar == std::string_view::npos) break;
    text.remove_prefix(dollar);
    if (text.starts_with("$${")) {
      out += "${";
      text.remove_prefix(3);
    } else if (text.starts_with("${")) {
      const std::size_t close = text.find('}');
      if (close == std::string_view::npos)
        return Problem{R"("${" without its "}" ($${ for a literal ${))"};
      const Result<VariableReference> reference = parse_reference(text.substr(2, close - 2));
      if (!reference) return reference.error();
      Result<std::string> value = value_of(*reference, variables);
      if (!value) return value;
      out += *value;
      text.remove_prefix(close + 1);
    } else {
      out += '$';
      text.remove_prefix(1);
    }
  }
  return {boost::system::in_place_value, std::move(out)};
}

bool holds_variable(std::string_view text) {
  for (std::size_t at = text.find('$'); at != std::string_view::npos; at = text.find('$')) {
    text.remove_prefix(at);
    if (text.starts_with("${")) return true;
    text.remove_prefix(text.starts_with("$${") ? 3 : 1);
  }
  return false;
}

}  // namespace weir::config
