// Opens the listening socket of a configured endpoint, TCP or unix.
#pragma once

#include <boost/asio/basic_socket_acceptor.hpp>
#include <boost/asio/generic/stream_protocol.hpp>

#include "base/endpoint.hpp"
#include "base/result.hpp"

namespace weir::admin {

using Acceptor = boost::asio::basic_socket_acceptor<boost::asio::generic::stream_protocol>;

/// Binds, and returns the endpoint with the port that was picked. Replaces the file of a unix
/// socket that no process listens on.
Result<Endpoint> listen(Acceptor& acceptor, const Endpoint& address);

/// Removes the file of a unix endpoint; does nothing for others.
void remove_socket_file(const Endpoint& address);

}  // namespace weir::admin
