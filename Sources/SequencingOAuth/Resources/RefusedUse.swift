import SQBasics
import SQFoundation

/// The use of a token that a resource server refused: the operation, and a hash of the token.
struct RefusedUse: Sendable, Hashable {
  /// The method, and the URL without its query, because a query may contain secrets.
  let operation: String
  /// A hash of the token, which does not reveal the token and is valid only in this process.
  private let token: Int
  /// The user of the token, to whom the operation belongs; `nil` if unknown.
  let user: SignInUser?

  init(_ token: SQToken, for request: ResourceRequest) {
    let target = request.url.absoluteString.prefix { $0 != "?" && $0 != "#" }
    operation = "\(request.method) \(target)"
    self.token = Self.mark(of: token)
    user = token.idToken.map(SignInUser.init)
  }

  /// Returns whether a token is the refused one.
  func isOf(_ token: SQToken) -> Bool { Self.mark(of: token) == self.token }

  private static func mark(of token: SQToken) -> Int { token.accessToken.hashValue }
}
