public import SQBasics

/// A source of assertions about the client, signed by the client's platform or another party.
///
/// Kubernetes, SPIFFE and clouds give a program a short-lived signed JSON Web Token that says which
/// workload it is. With such a token the program needs neither a secret nor a key of its own:
///
/// - as ``ClientConfiguration/clientAssertionSource`` it is the client's authentication;
/// - as ``ClientConfiguration/grantAssertionSource`` it is exchanged for an access token.
///
/// The SDK asks for an assertion each time that it needs one, and keeps none. An assertion is sent
/// only if its audience includes the server. With an assertion for another audience, the server
/// could act as the client at that audience.
///
/// - SeeAlso: RFC 7523, sections 2.1, 2.2 and 3
public struct AssertionSource: Sendable {
  /// The purpose of an assertion.
  struct Need: Sendable {
    /// The server's name, which the assertion's `aud` must contain.
    let audience: String
    /// The scope of the token request; `nil` if the request has none, or if the assertion
    /// authenticates the client.
    var scope: String?
    /// A digest of the user whom the assertion must name; `nil` for any user.
    var user: String?
  }

  /// The code that provides assertions; two sources are equal if they share one instance.
  private final class Code: Sendable {
    let bring: @Sendable (Need) async throws -> String

    init(_ bring: @escaping @Sendable (Need) async throws -> String) {
      self.bring = bring
    }
  }

  private let name: String
  /// The time limit for getting one assertion.
  private let limit: Duration
  private let code: Code

  /// Creates a source from code that returns a signed JSON Web Token for an audience.
  ///
  /// `audience` is a single string that ``Provider/assertionAudience`` determines, by default the
  /// server's issuer. The code is called on any thread, for each attempt of a request, possibly
  /// several times at once. If the code throws, the request fails with
  /// ``SQOAuthError/Code/clientKeyFailed``, and the cause is the thrown error. An error that
  /// already has this code is thrown unchanged. After 10 s, the code's task is cancelled, and the
  /// request fails with the same error code. White space at the end of the assertion is removed.
  public init(
    _ assertion: @escaping @Sendable (_ audience: String) async throws -> String
  ) {
    self.init("an app's code") { try await assertion($0.audience) }
  }

  init(
    _ name: String, limit: Duration = .seconds(10),
    bring: @escaping @Sendable (Need) async throws -> String
  ) {
    self.name = name
    self.limit = limit
    code = Code(bring)
  }

  /// Returns a new assertion, and a digest of the user whom it names.
  ///
  /// - Throws: ``SQOAuthError/Code/clientKeyFailed`` if the source brings no assertion for this
  ///   server and this user.
  func assertion(for need: Need) async throws(SQOAuthError) -> (text: String, user: String?) {
    let result = await LimitedCall.result(limit: limit) { [code] in try await code.bring(need) }
    switch result {
    case .success(let text)?:
      return try BroughtAssertion(text).checked(for: need)
    case .failure(let error as SQOAuthError)? where error.code == .clientKeyFailed:
      throw error
    case .failure(let error)?:
      let known = error as? SQOAuthError
      throw SQOAuthError(
        .clientKeyFailed,
        "the source of assertions (\(name)) failed\(known.map { ": \($0.message)" } ?? "")",
        cause: error, retryAfter: known?.retryAfter)
    case nil where Task.isCancelled:
      throw .waitCancelled
    case nil:
      throw SQOAuthError(
        .clientKeyFailed,
        "the source of assertions (\(name)) took longer than \(Int(limit.seconds)) s")
    }
  }
}

extension AssertionSource: Hashable {
  /// Returns whether two sources are copies of the same source.
  public static func == (one: Self, other: Self) -> Bool { one.code === other.code }

  /// Hashes the identity of the source.
  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(code)) }
}

extension AssertionSource: Redacted {
  /// The kind of the source.
  public var description: String { "source of assertions: \(name)" }
}
