// A request whose head has been read: what inspect_head() finds in it.
//
// The views point into the head, which stays in place until the exchange has ended.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "http/framing.hpp"
#include "http/hop_by_hop.hpp"
#include "http/request_view.hpp"
#include "identity/ip_address.hpp"

namespace weir::proxy {

struct ReceivedRequest {
  http::RequestView view;               ///< its method is empty until the head has been parsed
  std::vector<http::FieldView> fields;  ///< of the view
  std::string target_storage;           ///< of the target, when it is no part of the head
  http::ConnectionOptions connection;
  http::Framing framing;   ///< of the body
  bool is_framed = false;  ///< the framing has been found
  std::string upgrade;     ///< the protocols that the client offers, as a list
  std::string_view scheme = "http";
  identity::IpAddress peer;
  bool peer_is_trusted = false;
  identity::IpAddress client;  ///< the peer until the head has been inspected
  bool keep_alive = false;     ///< the client's wish; false until the head has been inspected

  /// True too if that is not known.
  bool has_body() const {
    if (!is_framed) return true;
    return framing.kind != http::Framing::Kind::none &&
           framing != http::Framing{http::Framing::Kind::length, 0};
  }
  /// Ready for the next request; keeps the memory of its texts.
  void clear();
};

}  // namespace weir::proxy
