public import SQBasics

/// A source of assertions about the client that another party signs, such as its platform.
///
/// Kubernetes, SPIFFE and clouds give a program a short-lived signed JSON Web Token that says which
/// workload it is. With such a token the program needs neither a secret nor a key of its own:
///
/// - as ``ClientConfiguration/clientAssertionSource`` it is the client's authentication;
/// - as ``ClientConfiguration/grantAssertionSource`` it is exchanged for an access token.
///
/// The SDK asks for an assertion each time that it needs one, and keeps none. An assertion for
/// another audience than the server is not sent, because that audience would accept it from the
/// server.
///
/// - SeeAlso: RFC 7523, sections 2.1, 2.2 and 3
public struct AssertionSource: Sendable {
  /// What an assertion is needed for.
  struct Need: Sendable {
    /// The server's name that the assertion must have in `aud`.
    let audience: String
    /// The scope of the token request; `nil` if it has none, or if the assertion authenticates.
    var scope: String?
  }

  /// The code that brings assertions; sources with one identity are equal.
  private final class Code: Sendable {
    let bring: @Sendable (Need) async throws -> String

    init(_ bring: @escaping @Sendable (Need) async throws -> String) {
      self.bring = bring
    }
  }

  private let name: String
  /// The time limit of each assertion.
  private let limit: Duration
  private let code: Code

  /// Creates a source from code that brings a signed JSON Web Token for an audience.
  ///
  /// `audience` is one text, by default the server's issuer; ``Provider/assertionAudience`` names
  /// another. The code is called on any thread, for each attempt of a request, possibly several
  /// times at once. After 10 s its task is cancelled and the request fails with
  /// ``SQOAuthError/Code/clientKeyFailed``, and so it does if the code throws: its error is the
  /// cause. White space at the end of the assertion is removed.
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

  /// Returns a new assertion.
  ///
  /// - Throws: ``SQOAuthError/Code/clientKeyFailed`` if the source brings no assertion for this
  ///   server.
  func assertion(for need: Need) async throws(SQOAuthError) -> String {
    let result = await LimitedCall.result(limit: limit) { [code] in try await code.bring(need) }
    switch result {
    case .success(let text)?:
      return try BroughtAssertion(text).text(for: need.audience)
    case .failure(let error as SQOAuthError)? where error.code == .clientKeyFailed:
      throw error
    case .failure(let error)?:
      let words = (error as? SQOAuthError).map { ": \($0.message)" } ?? ""
      throw SQOAuthError(
        .clientKeyFailed, "the source of assertions (\(name)) failed\(words)", cause: error)
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
  /// Returns whether two sources are copies of one.
  public static func == (one: Self, other: Self) -> Bool { one.code === other.code }

  /// Hashes the identity of the source.
  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(code)) }
}

extension AssertionSource: Redacted {
  /// The kind of the source.
  public var description: String { "source of assertions: \(name)" }
}
