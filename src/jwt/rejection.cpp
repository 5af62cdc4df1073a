#include "jwt/rejection.hpp"

namespace weir::jwt {

std::string_view description_of(Rejection rejection) {
  switch (rejection) {
    case Rejection::too_large:
      return "the token is too large";
    case Rejection::not_compact:
      return "the token does not consist of header, payload and signature";
    case Rejection::unsigned_token:
      return "tokens without a signature are not accepted";
    case Rejection::not_base64url:
      return "a part of the token is not base64url";
    case Rejection::bad_header:
      return "the header of the token is not valid";
    case Rejection::bad_payload:
      return "the payload of the token is not a JSON object";
    case Rejection::duplicate_member:
      return "a member name appears more than once in the token";
    case Rejection::too_complex:
      return "the JSON of the token has too many levels or values";
    case Rejection::unsupported_algorithm:
      return "the algorithm of the token is missing or not supported";
    case Rejection::disallowed_algorithm:
      return "the algorithm of the token is not allowed";
    case Rejection::encrypted:
      return "encrypted, compressed and nested tokens are not supported";
    case Rejection::unsupported_extension:
      return "the token requires an extension that is not supported";
    case Rejection::bad_key_id:
      return "the key ID of the token is not valid";
    case Rejection::wrong_type:
      return "the token is of another type";
    case Rejection::unknown_key:
      return "the key of the token is not known";
    case Rejection::unsuitable_key:
      return "the key of the token is for another algorithm";
    case Rejection::bad_signature:
      return "the signature of the token is not valid";
    case Rejection::wrong_issuer:
      return "the token is from another issuer";
    case Rejection::wrong_audience:
      return "the token is for another audience";
    case Rejection::bad_date:
      return "a date of the token is not valid";
    case Rejection::no_expiry:
      return "the token has no expiry";
    case Rejection::expired:
      return "the token has expired";
    case Rejection::not_yet_valid:
      return "the token is not valid yet";
    case Rejection::issued_in_future:
      return "the token was issued in the future";
    case Rejection::too_old:
      return "the token is too old";
    case Rejection::bad_subject:
      return "the subject of the token is not valid";
  }
  return "the token is not valid";
}

}  // namespace weir::jwt
