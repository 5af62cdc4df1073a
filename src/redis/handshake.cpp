#include "redis/handshake.hpp"

#include "redis/error_reply.hpp"

namespace weir::redis {
namespace {

using Step = HandshakeCommand::Step;
using Kind = HandshakeReply::Kind;

/// Whether this is what Redis replies when the step succeeds.
bool is_success(Step step, const HandshakeReply& reply) {
  if (step == Step::load_script) return reply.kind == Kind::string && is_sha(reply.text);
  if (step == Step::check_role) return reply.kind == Kind::array && reply.text == "master";
  return reply.kind == Kind::status;
}

/// Whether a handshake goes on after this error: an ACL may forbid CLIENT SETNAME, which nothing
/// depends on. NOAUTH is the exception, because every later step would get it too.
bool is_harmless(Step step, std::string_view error) {
  return step == Step::set_name && !error.starts_with("NOAUTH");
}

std::string described(Step step, std::string_view text, const Secret& password) {
  if (step == Step::authenticate) text = unquoted(text);
  return std::string(to_string(step)) + ": " + printable(text, password.reveal());
}

}  // namespace

Handshake::Commands Handshake::begin() {
  commands_ = handshake_of(options_, scripts_);
  sent_ = answered_ = scripts_loaded_ = 0;
  optional_error_.clear();
  return send_up_to(commands_.size() - scripts_.size());
}

Handshake::Commands Handshake::send_up_to(std::size_t end) {
  const auto commands = std::span(commands_).subspan(sent_, end - sent_);
  sent_ = end;
  return commands;
}

Handshake::Outcome Handshake::on_reply(const HandshakeReply& reply) {
  const Step step = commands_[answered_].step;
  const auto failed = [&](std::string_view text, store::Error error) {
    return Outcome{.kind = Outcome::Kind::failed,
                   .failure = described(step, text, options_.password),
                   .error = error};
  };
  if (reply.kind == Kind::error) {
    if (!is_harmless(step, reply.text)) return failed(reply.text, error_of(reply.text));
    optional_error_ = described(step, reply.text, options_.password);
  } else if (step == Step::check_role && reply.kind == Kind::array && reply.text == "slave") {
    return failed("the server is a replica, and is not promoted yet", store::Error::loading);
  } else if (!is_success(step, reply)) {
    return failed("not a reply of Redis", store::Error::other);
  }
  if (step == Step::load_script) shas_.set(scripts_loaded_++, reply.text);
  if (++answered_ < sent_) return {};
  if (sent_ == commands_.size()) return {.kind = Outcome::Kind::complete};
  return {.kind = Outcome::Kind::send_scripts, .commands = send_up_to(commands_.size())};
}

}  // namespace weir::redis
