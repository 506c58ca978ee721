import CSQCrypto
package import SQFoundation

/// A reason why a TLS client cannot present a certificate with its private key.
package enum CertificateFlaw: Int32, Error, Sendable {
  case noCertificate = 1
  case encryptedKey
  case noKey
  case otherKey

  /// Finds the first flaw of a PEM text with a certificate and a key; `nil` if there is none.
  ///
  /// The call never asks for a passphrase, not even on a terminal.
  ///
  /// - SeeAlso: RFC 7468; SSL_CTX_check_private_key(3)
  package init?(in text: Data) {
    OpenSSL.begin()
    let flaw = OpenSSL.leavingNoErrors {
      text.withUnsafeBytes { sq_pair_flaw($0.baseAddress, Int32(clamping: $0.count)) }
    }
    guard flaw != 0 else { return nil }
    self = Self(rawValue: flaw) ?? .noKey
  }

  /// Returns the position, counted from 1, of the first unreadable certificate in a PEM text; `nil`
  /// if all can be read.
  package static func firstDamaged(in text: Data) -> Int? {
    OpenSSL.begin()
    var isWhole: Int32 = 0
    let count = OpenSSL.leavingNoErrors {
      text.withUnsafeBytes {
        sq_count_certificates($0.baseAddress, Int32(clamping: $0.count), &isWhole)
      }
    }
    return isWhole == 1 ? nil : Int(count) + 1
  }
}
