#include "admin/listen.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string>
#include <sys/stat.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ip/v6_only.hpp>
#include <boost/asio/local/stream_protocol.hpp>

namespace weir::admin {
namespace {

namespace asio = boost::asio;
using asio::generic::stream_protocol;
using boost::system::error_code;

Problem refusal(const Endpoint& address, const std::string& why) {
  return {"admin.address: cannot listen on " + address.to_string() + ": " + why};
}

bool somebody_listens(const Endpoint& address) {
  asio::io_context io;
  asio::local::stream_protocol::socket probe(io);
  error_code failure;
  probe.connect(asio::local::stream_protocol::endpoint(address.unix_path), failure);
  return failure != asio::error::connection_refused;
}

stream_protocol::endpoint resolved(const Endpoint& address, error_code& failure) {
  if (address.is_unix()) return asio::local::stream_protocol::endpoint(address.unix_path);
  asio::io_context io;
  asio::ip::tcp::resolver resolver(io);
  const auto found = resolver.resolve(address.host, std::to_string(address.port),
                                      asio::ip::tcp::resolver::passive, failure);
  if (failure) return {};
  return found.begin()->endpoint();
}

std::uint16_t port_of(const stream_protocol::endpoint& endpoint) {
  // The port is at the same offset for both families.
  const auto* const data = static_cast<const void*>(endpoint.data());
  return ntohs(static_cast<const sockaddr_in*>(data)->sin_port);
}

}  // namespace

Result<Endpoint> listen(Acceptor& acceptor, const Endpoint& address) {
  error_code failure;
  const auto endpoint = resolved(address, failure);
  if (failure) return refusal(address, failure.message());
  if (address.is_unix() && !somebody_listens(address)) remove_socket_file(address);
  acceptor.open(endpoint.protocol(), failure);
  if (!failure) acceptor.set_option(asio::socket_base::reuse_address(true), failure);
  if (!failure && endpoint.protocol().family() == AF_INET6)
    acceptor.set_option(asio::ip::v6_only(false), failure);  // as for the listeners of the proxy
  if (!failure) acceptor.bind(endpoint, failure);
  if (!failure) acceptor.listen(asio::socket_base::max_listen_connections, failure);
  if (failure) {
    const std::string why = failure.message();
    acceptor.close(failure);
    return refusal(address, why + "; choose another address, or `admin: off`");
  }
  Endpoint bound = address;
  if (!address.is_unix()) bound.port = port_of(acceptor.local_endpoint());
  return bound;
}

void remove_socket_file(const Endpoint& address) {
  struct stat found {};
  const bool is_socket = address.is_unix() && ::lstat(address.unix_path.c_str(), &found) == 0 &&
                         S_ISSOCK(found.st_mode);
  if (is_socket) ::unlink(address.unix_path.c_str());
}

}  // namespace weir::admin
