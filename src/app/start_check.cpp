#include "app/start_check.hpp"

#include <algorithm>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

#include "app/certificates.hpp"
#include "app/process.hpp"
#include "config/endpoint.hpp"
#include "log/log_file.hpp"
#include "loop/listening_socket.hpp"

namespace weir::app {
namespace {

void replace_all(std::string& text, const std::string& part, std::string_view by) {
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + by.size()))
    text.replace(at, part.size(), by);
}

/// The message with the value, and its folder if it is a file, as written in the
/// configuration: the content of a variable is not shown.
std::string as_written(const config::Shown& shown, const std::string& value, std::string message) {
  if (!shown.is_hidden()) return message;
  replace_all(message, value, shown(value));
  const std::string file = value.starts_with("unix:") ? value.substr(5) : value;
  const std::string folder = std::filesystem::path(file).parent_path().string();
  if (!folder.empty()) replace_all(message, '"' + folder + '"', config::from_environment);
  return message;
}

/// Tries one address after the other, as if this process listened on those before it.
class AddressCheck {
 public:
  AddressCheck(const config::Config& config, StartCheck& to) : config_(config), to_(to) {}

  void add(const Endpoint& address, const config::Shown& shown, std::string_view more = {}) {
    loop::ListenTrial trial = loop::try_listening(address, [this](const Endpoint& local) {
      return std::ranges::any_of(claimed_,
                                 [&](const Endpoint& one) { return config::overlap(one, local); });
    });
    if (!trial.problem || trial.is_taken) claimed_.push_back(std::move(trial.local));
    if (!trial.problem) return;
    std::string message = as_written(shown, address.to_string(), std::move(trial.problem->message));
    message += trial.is_taken ? "; nothing to do if it is the Weir that will be reloaded" : more;
    (trial.is_taken ? to_.warnings : to_.problems)
        .push_back(config_.presentation.positions.problem(shown.path(), std::move(message)));
  }

 private:
  const config::Config& config_;
  StartCheck& to_;
  std::vector<Endpoint> claimed_;
};

void check_addresses(const config::Config& config, StartCheck& to) {
  AddressCheck addresses(config, to);
  for (std::size_t i = 0; i < config.listen.size(); ++i)
    addresses.add(config.listen[i].address, config.shown_at(config.listener_path(i))["address"]);
  if (config.admin)
    addresses.add(config.admin->address, config.shown()["admin"]["address"],
                  ", or write `admin: off`");
}

bool is_file(const std::string& log) {
  return log != "-" && log != "off";
}

}  // namespace

StartCheck check_start(const config::Config& config, std::size_t descriptors) {
  StartCheck found;
  if (const auto enough = check_descriptors(config, descriptors); !enough)
    found.problems.push_back({.key_path = {}, .message = enough.error().message});
  if (is_file(config.access_log.path)) {
    if (const auto opens = log::check_log_file(config.access_log.path); !opens) {
      const config::Shown shown = config.shown()["access_log"]["path"];
      found.problems.push_back(config.presentation.positions.problem(
          shown.path(), as_written(shown, config.access_log.path, opens.error().message)));
    }
  }
  const Certificates certificates = load_certificates(config, nullptr, found.problems);
  for (const std::string& warning : certificates.warnings())
    found.warnings.push_back({.key_path = {}, .message = warning});
  check_addresses(config, found);
  return found;
}

}  // namespace weir::app
