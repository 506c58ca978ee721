import SQBasics
import SQFoundation

/// The use of a token that a resource server refused: the token, and what was asked for with it.
struct RefusedUse: Sendable, Hashable {
  /// The operation: the method and the URL without its query, which may have secrets.
  let operation: String
  /// A value that differs between tokens and does not reveal them; it changes with each process.
  private let token: Int

  init(_ token: SQToken, for request: ResourceRequest) {
    let target = request.url.absoluteString.prefix { $0 != "?" && $0 != "#" }
    operation = "\(request.method) \(target)"
    self.token = Self.mark(of: token)
  }

  /// Returns whether a token is the refused one.
  func isOf(_ token: SQToken) -> Bool { Self.mark(of: token) == self.token }

  private static func mark(of token: SQToken) -> Int { token.accessToken.hashValue }
}
