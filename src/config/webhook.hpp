// `events.webhook`: the receiver of the events of quotas.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/secret.hpp"
#include "base/time.hpp"
#include "http/url.hpp"
#include "tls/material.hpp"

namespace weir::config {

struct Webhook {
  http::Url url{};  ///< a secret: its path or query may have a token
  std::vector<std::pair<std::string, Secret>> fields{};  ///< added to each request
  Duration timeout = std::chrono::seconds(2);            ///< of a whole request
  tls::ClientFiles tls{};                                ///< for https://
  friend bool operator==(const Webhook&, const Webhook&) = default;
};

}  // namespace weir::config
