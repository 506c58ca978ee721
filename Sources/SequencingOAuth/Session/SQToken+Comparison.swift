import SQBasics

extension SQToken {
  /// Returns whether two tokens have equal access tokens and equal refresh tokens.
  ///
  /// No server can tell such tokens apart.
  package func isSame(as other: SQToken) -> Bool {
    accessToken == other.accessToken && refreshToken == other.refreshToken
  }

  /// Returns whether this token was issued after another one; `false` if unknown.
  func isYounger(than other: SQToken) -> Bool {
    guard !isSame(as: other), let mine = issueDate, let its = other.issueDate else { return false }
    return mine > its
  }

  /// Returns whether this token was issued before another one; `true` if unknown.
  func isOlder(than other: SQToken) -> Bool {
    if isSame(as: other) { return false }
    guard let mine = issueDate, let its = other.issueDate else { return true }
    return mine < its
  }
}
