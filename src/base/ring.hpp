// A doubly linked list without a head, for chains that begin at one of their members. Lists with a
// head are Boost.Intrusive's; this has its algorithms.
//
// `T` derives from Ring<T>. A member must leave its ring before it is destroyed. Not thread-safe.
#pragma once

#include <boost/intrusive/circular_list_algorithms.hpp>

namespace weir {

template <class T>
class Ring {
 public:
  Ring() { Algorithms::init_header(this); }
  Ring(const Ring&) = delete;
  Ring& operator=(const Ring&) = delete;

  /// False: it is alone.
  bool is_linked() const { return !Algorithms::unique(this); }
  void unlink() {
    Algorithms::unlink(this);
    Algorithms::init_header(this);
  }
  /// Joins the ring of `position`. Only while alone.
  void link_before(Ring& position) { Algorithms::link_before(&position, this); }

  T* next() const { return static_cast<T*>(next_); }
  T* previous() const { return static_cast<T*>(previous_); }

 private:
  struct Traits {
    using node = Ring;
    using node_ptr = Ring*;
    using const_node_ptr = const Ring*;
    static node_ptr get_next(const_node_ptr of) { return of->next_; }
    static void set_next(node_ptr of, node_ptr next) { of->next_ = next; }
    static node_ptr get_previous(const_node_ptr of) { return of->previous_; }
    static void set_previous(node_ptr of, node_ptr previous) { of->previous_ = previous; }
  };
  using Algorithms = boost::intrusive::circular_list_algorithms<Traits>;

  Ring* next_;
  Ring* previous_;
};

}  // namespace weir
