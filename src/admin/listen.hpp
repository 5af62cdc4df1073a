// Listening on a configured endpoint, TCP or unix.
#pragma once

#include <boost/asio/basic_socket_acceptor.hpp>
#include <boost/asio/generic/stream_protocol.hpp>

#include "base/endpoint.hpp"
#include "base/result.hpp"

namespace weir::admin {

using Acceptor = boost::asio::basic_socket_acceptor<boost::asio::generic::stream_protocol>;

/// Binds, and gives the endpoint with the port that was picked. A unix socket's file that nobody
/// listens on any more is replaced.
Result<Endpoint> listen(Acceptor& acceptor, const Endpoint& address);

/// Of a unix endpoint; nothing for others.
void remove_socket_file(const Endpoint& address);

}  // namespace weir::admin
