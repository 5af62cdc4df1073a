// The one source that compiles Asio. With BOOST_ASIO_SEPARATE_COMPILATION its headers only declare what is defined
// here ("Optional separate compilation" of the Boost.Asio documentation).
#include <boost/asio/impl/src.hpp>
