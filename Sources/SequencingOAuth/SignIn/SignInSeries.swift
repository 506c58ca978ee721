/// The sign-ins by which one user has kept an account: the first one, and each later one that a
/// request of the same user needed.
package struct SignInSeries: Sendable, Hashable {
  /// The identifier of the first sign-in, ``AccountRecord/session``; `nil` if it has none.
  let first: String?
}
