#pragma once
/// The copy-transfer model (Stricker and Gross, ISCA 1995): a communication operation is composed of basic
/// transfers, each with a throughput of its own.
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace hocket {

/// The access pattern of a read x or a write y: 1 (contiguous), a stride, or w (indexed, also written ω). The stride s
/// stands for any.
struct Access {
  enum class Kind : std::uint8_t { contiguous, strided, any_stride, indexed } kind = Kind::contiguous;
  std::uint32_t stride = 1;
  bool operator==(const Access&) const = default;
};

/// xCy (copy), xS0 (load and send), 0Ry (receive and store), Nd (network, data only), Nadp (network, pairs of
/// address and data).
struct BasicTransfer {
  enum class Kind : std::uint8_t { copy, send, receive, data, pairs } kind = Kind::copy;
  Access read, write;

  /// Throws InputError if it is none. Written w, never ω, by text().
  [[nodiscard]] static BasicTransfer parse(std::string_view text);
  [[nodiscard]] std::string text() const;
  [[nodiscard]] bool reads() const { return kind == Kind::copy || kind == Kind::send; }
  [[nodiscard]] bool writes() const { return kind == Kind::copy || kind == Kind::receive; }
  [[nodiscard]] bool uses_memory() const { return reads() || writes(); }

 private:
  /// The characters between the read and the write.
  [[nodiscard]] const char* sign() const {
    static constexpr const char* signs[] = {"C", "S0", "0R", "Nd", "Nadp"};
    return signs[static_cast<std::size_t>(kind)];
  }
};

/// Throughputs of the basic transfers of a machine, MB/s.
class TransferTable {
 public:
  /// Throws InputError if the name is none, or the figure not positive.
  void set(std::string_view transfer, double megabytes_per_second);
  /// A stride without a figure of its own has that of s. Throws InputError if there is none.
  [[nodiscard]] double at(const BasicTransfer& transfer) const;

 private:
  std::map<std::string, double> figures_;
};

/// A composed operation:
///
///     a o b       one after the other, by the same resource: 1/T = 1/Ta + 1/Tb
///     a || b      at the same time, by different resources: T = min(Ta, Tb)
///     a within L  the parts of a that use memory at the same time share it: their sum is at most L, which is a basic
///                 transfer or a number of MB/s
///
/// || binds closer than o, and `within` closest: wC1 o (1S0 || Nd || 0R1) o 1Cw.
class Composition {
 public:
  /// Throws InputError that says at which character the trouble is.
  [[nodiscard]] static Composition parse(std::string_view text);

  /// MB/s. Throws InputError if the table lacks a transfer.
  [[nodiscard]] double throughput(const TransferTable& table) const;
  [[nodiscard]] std::string text() const;

 private:
  friend class CompositionParser;
  enum class Kind : std::uint8_t { basic, number, sequence, parallel, within };

  [[nodiscard]] int memory_users() const;

  Kind kind_ = Kind::basic;
  BasicTransfer transfer_;
  double number_ = 0;
  std::vector<Composition> parts_;  ///< for `within`: the bounded part, then the bound
};

}  // namespace hocket
