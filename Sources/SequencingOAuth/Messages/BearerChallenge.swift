public import Basics

/// Why a server refused a request with a Bearer token, or a request without one.
///
/// It comes in a `WWW-Authenticate` field, mostly with status 401 or 403. All of it is the server's
/// word: show it, compare ``error``, and believe nothing else of it.
///
/// - SeeAlso: RFC 6750, section 3; RFC 9110, section 11.6.1
public struct BearerChallenge: Sendable, Hashable {
  /// The scheme as the server wrote it: `Bearer`, in any letter case.
  public let scheme: String
  /// Every parameter as it came, by its name in lower case.
  ///
  /// A server may add its own, such as `resource_metadata`.
  public let parameters: [String: String]

  init(scheme: String = "Bearer", parameters: [String: String] = [:]) {
    self.scheme = scheme
    self.parameters = parameters
  }

  /// `realm`: the part of the server that the challenge is about.
  public var realm: String? { text("realm") }

  /// `scope`: what a token needs for this request, a list with spaces between the scopes.
  ///
  /// `nil` where it holds a character that no scope has (RFC 6749, section 3.3).
  public var scope: String? {
    guard let scope = parameters["scope"], scope.utf8.allSatisfy(Self.isScopeByte) else {
      return nil
    }
    return scope
  }

  /// `error`: ``SQOAuthError/Code/invalidToken``, ``SQOAuthError/Code/insufficientScope`` or
  /// ``SQOAuthError/Code/invalidRequest``; `nil` where the request carried no token.
  public var error: SQOAuthError.Code? {
    text("error").map(SQOAuthError.Code.init(rawValue:))
  }

  /// `error_description`: for developers, not for users.
  public var errorDescription: String? { text("error_description") }

  /// `error_uri`: a page about the error, never opened by the SDK.
  public var errorURI: String? { text("error_uri") }

  /// The Bearer challenges of all `WWW-Authenticate` fields of a response, in order.
  ///
  /// Challenges of other schemes are passed over. A malformed field gives what stands before the
  /// fault; a challenge with a parameter that comes twice gives nothing; fields beyond 16, and
  /// those of more than 8 KiB, are not read.
  public static func challenges(in fields: [String]) -> [BearerChallenge] {
    AuthenticationChallenge.challenges(in: fields)
      .filter { $0.scheme.lowercased() == "bearer" }
      .map { BearerChallenge(scheme: $0.scheme, parameters: $0.parameters) }
  }

  /// The same challenge, in which what the request held is blotted out.
  func removing(_ secrets: SentSecrets) -> BearerChallenge {
    BearerChallenge(scheme: scheme, parameters: parameters.mapValues(secrets.removed(from:)))
  }

  private func text(_ name: String) -> String? {
    parameters[name].map(\.printable)
  }

  private static func isScopeByte(_ byte: UInt8) -> Bool {
    (0x20...0x7E).contains(byte) && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
  }
}

extension HTTPFields {
  /// The Bearer challenges of these fields, in order.
  public var bearerChallenges: [BearerChallenge] {
    BearerChallenge.challenges(in: values(for: "WWW-Authenticate"))
  }
}

extension HTTPResponse {
  /// The Bearer challenge of the response: the first that names an error, else the first.
  public var bearerChallenge: BearerChallenge? {
    let challenges = headers.bearerChallenges
    return challenges.first { $0.error != nil } ?? challenges.first
  }
}

extension BearerChallenge: Redacted {
  /// The realm, the error and the scope, in one line; a server's other texts may repeat a token.
  public var description: String {
    let parts = [("realm", realm), ("error", error?.rawValue), ("scope", scope)]
    let words = parts.compactMap { name, value in value.map { "\(name) \"\($0.prefix(500))\"" } }
    return words.isEmpty
      ? "Bearer challenge" : "Bearer challenge (\(words.joined(separator: ", ")))"
  }
}
