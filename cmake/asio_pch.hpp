// Precompiled for the rooms that do I/O: parsing these takes longer than compiling most files.
#include <boost/asio.hpp>
#include <boost/beast/http/field.hpp>

#include <string>
#include <vector>
