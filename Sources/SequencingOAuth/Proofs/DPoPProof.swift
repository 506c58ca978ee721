import SQBasics
import SQCrypto
import SQFoundation

/// The claims of a DPoP proof, a signed text that proves possession of a token's key for one
/// request.
///
/// - SeeAlso: RFC 9449, section 4.2
package struct DPoPProof: Sendable {
  /// The name of the header field that carries a proof.
  static let field = "DPoP"

  /// The request's method, `htm`.
  let method: String
  /// The request's URL without its query and fragment, `htu`.
  let url: String
  /// The time of the proof in seconds since 1970, `iat`.
  let time: Int64
  /// The unique name of the proof, `jti`: at least 96 random bits.
  let id: String
  /// The nonce that the server has asked for, if any.
  let nonce: String?
  /// The digest of the access token, `ath`; only for a resource server.
  let tokenDigest: String?

  /// Creates the claims of a new proof, which must be used for one attempt only.
  init(_ method: String, _ target: RequestTarget, at time: Date, nonce: String?, token: String?) {
    self.method = method
    url = Self.url(of: target)
    self.time = Int64(exactly: time.timeIntervalSince1970.rounded(.down)) ?? 0
    id = RandomString.makeName()
    self.nonce = nonce
    tokenDigest = token.map { Base64URL.encode(Digest.sha256($0)) }
  }

  /// Returns a URL as a proof names it: without query and fragment, and without the default port.
  ///
  /// The path stays as it is sent, because some servers compare it byte by byte. An empty path is
  /// sent as `/`.
  ///
  /// - SeeAlso: RFC 9449, section 4.3; RFC 3986, section 6.2.3
  static func url(of target: RequestTarget) -> String { url(of: target, path: target.path) }

  private static func url(of target: RequestTarget, path: String) -> String {
    let host = target.host.utf8.contains(UInt8(ascii: ":")) ? "[\(target.host)]" : target.host
    let isDefault = target.port == (target.isSecure ? 443 : 80)
    return (target.isSecure ? "https://" : "http://") + host
      + (isDefault ? "" : ":\(target.port)") + path
  }

  /// Returns a URL in a normalized form, to compare a proof's `htu` with a request's URL.
  ///
  /// The form has no query, no fragment and no default port. Different spellings of a path get the
  /// same form: `%7e` becomes `~`, and `%2f` becomes `%2F`.
  ///
  /// - SeeAlso: RFC 9449, section 4.3; RFC 3986, sections 6.2.2 and 6.2.3
  package static func comparable(_ target: RequestTarget) -> String {
    let parts = target.path.split(separator: "%", omittingEmptySubsequences: false)
    let path = parts.dropFirst().reduce(into: String(parts.first ?? "")) { path, part in
      let digits = part.prefix(2)
      let byte = UInt8(digits, radix: 16) ?? 0
      let isPlain = byte.isAlphanumeric || "-._~".utf8.contains(byte)
      path += isPlain ? String(UnicodeScalar(byte)) : "%" + digits.uppercased()
      path += part.dropFirst(2)
    }
    return url(of: target, path: path)
  }

  /// Returns the text to sign; `header` is the JWT header in base64url, followed by a dot.
  func signingInput(header: String) -> String { header + Base64URL.encode(claims) }

  private var claims: Data {
    var writer = JSONWriter()
    writer.begin()
    writer.member("ath", tokenDigest)
    writer.member("htm", method)
    writer.member("htu", url)
    writer.member("iat", time)
    writer.member("jti", id)
    writer.member("nonce", nonce)
    return writer.end()
  }
}

extension DPoPProof: Redacted {}
