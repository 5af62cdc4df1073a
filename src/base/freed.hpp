// The deleter of an object of a C library: std::unique_ptr<BIO, Freed<BIO_free_all>>.
#pragma once

namespace weir {

template <auto Free>
struct Freed {
  template <class T>
  void operator()(T* object) const {
    Free(object);
  }
};

}  // namespace weir
